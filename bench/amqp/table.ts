import { median } from '../workload.js';
import type { Case } from './cases.js';
import type { Pace, Result } from './measure.js';

/** The head of the table. */
export function head(cores: number, runs: number, { measured }: Pace): string[] {
  return [
    `Node ${process.version}, ${cores} cores for server and load program together; ${runs === 2 ? 'the higher figure' : 'median'} of ${runs} runs of ` +
      `${measured} s, servers in turn, each run from a process of its own, one connection that publishes and one that ` +
      'consumes, prefetch 250, loopback. RabbitMQ uses several cores and does more for each message. CPU is ' +
      'microseconds of processor time a message: of all threads of the server, and of the load program.',
    '',
    '| | workload | client | server | median | range | server CPU | client CPU | dlx-broker leads by | its CPU | |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
  ];
}

/** A row for each server that was measured. */
export function rowsOf(
  one: Case,
  ours: readonly Result[],
  rivals: readonly { readonly name: string; readonly client: string; readonly results: readonly Result[] }[],
): string[] {
  const own = ours.length === 0 ? [] : [row(one, 'dlx-broker', ours, ['', ''])];
  const others = rivals
    .filter(({ results }) => results.length > 0)
    .map(({ name, client, results }) => row({ ...one, client }, name, results, compared(one, ours, results)));
  return [...own, ...others];
}

/** How many times faster dlx-broker is, and its share of the other server's processor time. */
function compared(one: Case, ours: readonly Result[], theirs: readonly Result[]): readonly [string, string] {
  if (ours.length === 0) return ['', ''];
  const leads = theirs.map(({ value }, run) => {
    const mine = ours[run]?.value as number;
    return one.more === 'better' ? mine / value : value / mine;
  });
  const share = median(theirs.map(({ serverCpu }, run) => (ours[run]?.serverCpu ?? NaN) / (serverCpu ?? NaN)));
  return [`${median(leads).toFixed(1)}x`, Number.isNaN(share) ? '' : `${share.toFixed(2)}x`];
}

function row(one: Case, server: string, results: readonly Result[], comparison: readonly [string, string]): string {
  const values = results.map(({ value }) => value);
  const range = `${shown(Math.min(...values))} - ${shown(Math.max(...values))}`;
  const of = (pick: (result: Result) => number | undefined): string => {
    const picked = results.map(pick).filter((value) => value !== undefined);
    return picked.length === 0 ? '' : shown(median(picked));
  };
  const extra = Object.keys(results[0]?.extra ?? {}).map((name) => `${name}: ${of((result) => result.extra?.[name])}`);
  const cpu = [of(({ serverCpu }) => serverCpu), of(({ clientCpu }) => clientCpu)];
  const cells = [one.id, one.title, one.client, server, `${shown(median(values))} ${one.unit}`, range, ...cpu];
  return `| ${[...cells, ...comparison, extra.join(', ')].join(' | ')} |`;
}

export function shown(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString('en');
  return value >= 100 ? value.toFixed(0) : value.toPrecision(2);
}
