import { type Measurement, median, type Workload } from './workload.js';

/** All runs of one peer of a workload. */
export interface Result {
  readonly workload: Workload;
  readonly peer: string;
  readonly measured: readonly Measurement[];
  /** What went wrong, if no run succeeded. */
  readonly failed?: string;
}

/** A row of the table. */
export interface Row {
  readonly workload: Workload;
  readonly peer: string;
  readonly median: string;
  readonly range: string;
  /** How many times better dlx-broker is, run by run, the median; undefined for itself and for variants of it. */
  readonly lead: number | undefined;
  readonly isLimit: boolean;
  readonly extra: string;
}

const own = 'dlx-broker';

/** @param results in the order of the table */
export function rowsOf(results: readonly Result[]): readonly Row[] {
  return results.map(({ workload, peer, measured, failed }) => {
    const isLimit = workload.limits?.includes(peer) ?? false;
    if (failed !== undefined) {
      return { workload, peer, median: 'failed', range: '', lead: undefined, isLimit, extra: failed };
    }
    const values = measured.map(({ value }) => value);
    const ours = results.find((one) => one.workload === workload && one.peer === own)?.measured ?? [];
    const ratios = values.flatMap((value, run) => {
      const mine = ours[run]?.value;
      if (mine === undefined) return [];
      return [workload.more === 'better' ? mine / value : value / mine];
    });
    return {
      workload,
      peer,
      median: `${shown(median(values))} ${workload.unit}`,
      range: `${shown(Math.min(...values))} - ${shown(Math.max(...values))}`,
      lead: peer.startsWith(own) || ratios.length === 0 ? undefined : median(ratios),
      isLimit,
      extra: Object.keys(measured[0]?.extra ?? {})
        .map((name) => `${name}: ${extraOf(measured, name)}`)
        .join(', '),
    };
  });
}

/** The median where it is a number. */
function extraOf(measured: readonly Measurement[], name: string): string {
  const all = measured.map(({ extra }) => extra?.[name] ?? '');
  const numbers = all.map(Number);
  return numbers.some(Number.isNaN) ? (all[0] as string) : String(median(numbers));
}

export function shown(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(0) : value.toPrecision(2);
}

/** `0.7x`, `11.1x`, `8,521x`. */
export function times(ratio: number): string {
  return ratio >= 100 ? `${Math.round(ratio).toLocaleString('en')}x` : `${ratio.toFixed(ratio < 1 ? 2 : 1)}x`;
}

/** For a terminal: a line for each workload, and below it one for each peer. */
export function readable(rows: readonly Row[]): readonly string[] {
  const [names, figures] = [rows.map(({ peer }) => peer.length), rows.map(({ median: middle }) => middle.length)];
  const [name, figure] = [Math.max(...names), Math.max(...figures)];
  let last: Workload | undefined;
  return rows.flatMap(({ workload, peer, median: middle, lead, extra }) => {
    const head = workload === last ? [] : ['', `${workload.id}: ${workload.title}`];
    last = workload;
    const ratio = lead === undefined ? '' : times(lead);
    return [...head, `  ${peer.padEnd(name)}  ${middle.padStart(figure)}  ${ratio.padStart(7)}  ${extra}`.trimEnd()];
  });
}
