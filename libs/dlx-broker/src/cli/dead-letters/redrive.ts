import { setTimeout as wait } from 'node:timers/promises';
import { shownJson, shownText } from '../../platform/index.js';
import type { Api, Reply } from '../api.js';
import { CommandError, exit } from '../command-error.js';
import {
  ask,
  type Call,
  type CommandOutput,
  type CommonFlags,
  noneOf,
  shownQueue,
  type Terminal,
  type WatchFlags,
  watching,
} from '../command.js';
import { oneLine, prettyColumns, vhostColumn, when } from '../text.js';
import { type FilterFlags, filterOf, refuseBoth } from './filter.js';

/** The part of a redrive that a bar shows. */
interface Progress {
  readonly ready_at_start: number;
  readonly scanned: number;
  readonly moved: number;
  readonly left: number;
  readonly gone: number;
  readonly limit: number | null;
  readonly ids: number | null;
}

const barWidth = 24;

/** The share of a redrive that is done, from 0 to 1. A redrive ends at its limit, or when all messages were examined. */
export function shareOf({ ready_at_start: ready, scanned, moved, left, gone, limit, ids }: Progress): number {
  const shares = [
    ready === 0 ? 1 : scanned / ready,
    ...(limit === null || limit === 0 ? [] : [moved / limit]),
    ...(ids === null || ids === 0 ? [] : [(moved + left + gone) / ids]),
  ];
  return Math.min(1, Math.max(...shares));
}

/** One line: a bar, the share in percent, and the counts. @param width characters of the line at most */
export function barOf(progress: Progress, width: number): string {
  const share = shareOf(progress);
  const filled = Math.floor(share * barWidth);
  const counts = [`${progress.moved} moved`, ...(progress.left > 0 ? [`${progress.left} left`] : [])].join(', ');
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`;
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${counts}`.slice(0, Math.max(1, width - 1));
}

/** Draws a bar over the previous one, on a terminal only. */
export function drawBar(progress: Progress, terminal: Terminal | undefined): void {
  if (terminal?.width !== undefined) terminal.draw(`\r${barOf(progress, terminal.width)}\u001b[K`);
}

export function eraseBar(terminal: Terminal | undefined): void {
  if (terminal?.width !== undefined) terminal.draw('\r\u001b[K');
}

interface RedriveRow extends Progress {
  readonly id: string;
  /** Null for a redrive of groups that do not share them. */
  readonly vhost: string | null;
  readonly queue: string | null;
  readonly state: string;
  readonly reason: string | null;
  readonly by: string;
  readonly dry_run: boolean;
  readonly started_at: number;
  readonly returned: number;
}

const noRedrive = (id: string): string =>
  `redrive '${id}': 'dlx-broker dead-letters redrives' shows the running ones and the last 100`;

function redrivesText(body: unknown): string {
  const all = body as readonly RedriveRow[];
  const vhost = vhostColumn(all);
  const rows = all.map((row) => [
    row.id,
    ...vhost.map((of) => of(row)),
    row.queue ?? 'several',
    row.dry_run ? `${row.state}, dry run` : row.state,
    `${Math.floor(shareOf(row) * 100)} %`,
    String(row.moved),
    String(row.left),
    String(row.returned),
    row.by,
    when(row.started_at),
    oneLine(row.reason ?? '', 60),
  ]);
  const numbers = ['done', 'moved', 'left', 'came back'];
  const head = ['id', ...vhost.map(() => 'vhost'), 'queue', 'state', ...numbers, 'by', 'started', 'reason'];
  return prettyColumns(head, rows);
}

/** The running redrives, and the last ones. */
export function listRedrives({ api, flags, output }: Call<CommonFlags & WatchFlags>): Promise<void> {
  const once = async (): Promise<string> => {
    const { body, text } = await ask(api, 'GET', ['dlx', 'redrives'], undefined);
    const seen = (body as readonly RedriveRow[]).filter(({ vhost }) => vhost === (flags.vhost ?? vhost));
    return flags.json === true
      ? shownJson(flags.vhost === undefined ? text : JSON.stringify(seen))
      : redrivesText(seen);
  };
  return watching(flags, once, output);
}

export type Order = 'pause' | 'resume' | 'cancel';

/** Pauses, resumes or cancels a redrive. Messages that moved stay moved. */
export async function orderRedrive({ api, flags, output: { out } }: Call, order: Order, id: string): Promise<void> {
  const path = ['dlx', 'redrives', id];
  if (order === 'cancel') await ask(api, 'DELETE', path, noRedrive(id));
  else await ask(api, 'POST', [...path, order], noRedrive(id));
  const { body, text } = await ask(api, 'GET', path, noRedrive(id));
  if (flags.json === true) return out(shownJson(text));
  const { state, moved } = body as RedriveRow;
  out(`redrive ${id} is ${state}, ${moved} moved`);
}

export interface RedriveFlags extends CommonFlags, FilterFlags {
  readonly to?: string;
  readonly rate?: string;
  readonly limit?: string;
  readonly dryRun?: true;

  /** False: the command ends when the redrive has begun. */
  readonly wait: boolean;
}

interface Address {
  readonly exchange: string;
  readonly routing_key: string;
}

/** The state of a redrive, as the API shows it. */
interface State extends Progress {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly dry_run: boolean;
  readonly returned: number;
  readonly destinations: readonly { readonly name: string; readonly count: number }[];
  /** In the answer of a dry run: destinations that may be full before all messages have moved. */
  readonly may_refuse?: readonly { readonly name: string; readonly max_length: number | null }[];
  readonly left_at: readonly ({ [part in keyof Address]: string | null } & {
    why: string;
    count: number;
    example_id: string;
  })[];
}

/** Milliseconds between looks at a redrive that runs. */
const pause = 250;

/** Exit code of a command that Ctrl+C ended, as shells have it. */
const interrupted = 130;

/**
 * Starts a redrive and waits for its end. If the command is interrupted, the redrive continues in the broker.
 * @returns the exit code, if it is not 0
 */
export async function redrive(
  { api, flags, output, vhost }: Call<RedriveFlags>,
  queue: string,
  ids: readonly string[],
): Promise<number | void> {
  const filter = filterOf(flags).body;
  const hasFilter = Object.keys(filter).length > 0;
  refuseBoth(ids, flags);
  const body = {
    vhost,
    queue,
    ...(ids.length > 0 && { ids }),
    ...(hasFilter && { filter }),
    ...(flags.to !== undefined && { to: addressIn(flags.to) }),
    ...(flags.rate !== undefined && { rate: numberIn('--rate', flags.rate) }),
    ...(flags.limit !== undefined && { limit: numberIn('--limit', flags.limit) }),
    ...(flags.dryRun === true && { dry_run: true }),
  };
  const started = await ask(api, 'POST', ['dlx', 'redrives'], shownQueue(queue, vhost), { body });
  const reply = flags.wait ? await untilEnd(started, api, output) : started;
  const state = reply.body as State;
  const { out, error } = output;
  if (flags.json === true) out(shownJson(reply.text));
  if (isAtWork(state)) {
    const runs = `redrive ${state.id} ${flags.wait ? 'goes on in the broker' : 'has begun'}`;
    const say = flags.wait || flags.json === true ? error : out;
    say(
      `${runs}; 'dlx-broker dead-letters redrives' shows it, and 'dlx-broker dead-letters cancel ${state.id}' ends it`,
    );
    return flags.wait ? interrupted : exit.ok;
  }
  if (flags.json !== true) out(stateText(state));
  // The exit code shows that messages did not move.
  if (state.state !== 'done') throw new CommandError(`the redrive is ${state.state}`, exit.software);
  if (state.left > 0) {
    const stay = state.left === 1 ? '1 message stays where it is' : `${state.left} messages stay where they are`;
    throw new CommandError(`${stay}`, exit.data);
  }
  if (ids.length > 0 && state.moved === 0) throw noneOf(ids, queue, vhost);
}

/** Draws the progress until the redrive ends, or until an interrupt. @returns the last state */
async function untilEnd(started: Reply, api: Api, { terminal }: CommandOutput): Promise<Reply> {
  let reply = started;
  const end = new AbortController();
  const undo = terminal?.onInterrupt(() => end.abort());
  try {
    while (isAtWork(reply.body as State) && !end.signal.aborted) {
      const { id } = reply.body as State;
      drawBar(reply.body as State, terminal);
      await wait(pause, undefined, { signal: end.signal }).catch(() => undefined);
      reply = await ask(api, 'GET', ['dlx', 'redrives', id], noRedrive(id));
    }
    return reply;
  } finally {
    undo?.();
    eraseBar(terminal);
  }
}

const isAtWork = ({ state }: State): boolean => state === 'running';

/** The last slash separates exchange and routing key: a routing key rarely has one. */
function addressIn(text: string): Address {
  const slash = text.lastIndexOf('/');
  if (slash < 0) {
    const remedy = `write '/${text}' for the queue`;
    throw new CommandError(`--to must be EXCHANGE/KEY, but is '${text}'; ${remedy}`, exit.usage);
  }
  return { exchange: text.slice(0, slash), routing_key: text.slice(slash + 1) };
}

function numberIn(option: string, text: string): number {
  if (/^[0-9]{1,9}(\.[0-9]+)?$/.test(text)) return Number(text);
  throw new CommandError(`${option} must be a number, but is '${text}'`, exit.usage);
}

/** What to do about messages whose address is not known. */
const unknown = (why: string): string =>
  why === 'unproven_origin'
    ? 'only their headers tell where they came from, which a client may have written; say with --to where they go'
    : 'their origin is not known; say with --to where they go';

function stateText(state: State): string {
  const would = state.dry_run ? 'would be ' : '';
  const counts = [
    `${state.moved} ${would}redriven`,
    ...(state.left > 0 ? [`${state.left} left`] : []),
    ...(state.gone > 0
      ? [`${state.gone} ${state.ids === null ? 'taken by another consumer' : 'not in the queue'}`]
      : []),
    ...(state.returned > 0 ? [`${state.returned} came back`] : []),
  ].join(', ');
  const destinations = state.destinations.map(({ name, count }) => [String(count), `to ${name}`]);
  const left = state.left_at.map(({ why, count, exchange, routing_key, example_id }) => [
    String(count),
    `${why}: ${exchange === null ? unknown(why) : `${exchange}/${routing_key}`}, for example message ${example_id}`,
  ]);
  const full = (state.may_refuse ?? []).map(({ name, max_length: most }) => {
    const limit = most === null ? 'a limit in bytes' : `a limit of ${most}`;
    return ['', `${name} has ${limit} and refuses what is beyond; such messages stay`];
  });
  const head = state.reason === null ? counts : `${counts} (${shownText(state.reason)})`;
  return [head, prettyColumns(undefined, [...destinations, ...left, ...full])].filter((part) => part !== '').join('\n');
}
