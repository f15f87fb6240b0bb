import { setTimeout as wait } from 'node:timers/promises';
import { shownJson, shownText } from '../../platform/index.js';
import type { Api, Reply } from '../ctl/api.js';
import { CtlFailure, exit } from '../ctl/exit.js';
import { prettyColumns } from './columns.js';
import { filterOf, type FilterFlags, refuseBoth } from './filter.js';
import { ask, noneOf, shownQueue, vhostOf, type CommonFlags, type CommandOutput } from './ask.js';
import { editBy, type EditPair, notEdited, pairsText } from './merge-patch.js';
import { drawBar, eraseBar, type Progress } from './progress.js';
import { noRedrive } from './redrives.js';

export interface RedriveFlags extends CommonFlags, FilterFlags {
  readonly to?: string;
  readonly rate?: string;
  readonly limit?: string;
  readonly dryRun?: true;
  /** A file, or `-` for standard input. */
  readonly mergePatch?: string;
  readonly keepOriginal?: true;
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
  readonly came_back: number;
  readonly destinations: readonly { readonly name: string; readonly count: number }[];
  /** In the answer of a dry run: destinations that may be full before all messages have moved. */
  readonly may_refuse?: readonly { readonly name: string; readonly max_length: number | null }[];
  /** In the answer of a dry run with an edit. */
  readonly pairs?: readonly EditPair[];
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
  queue: string,
  ids: readonly string[],
  flags: RedriveFlags,
  api: Api,
  output: CommandOutput,
): Promise<number | void> {
  const filter = filterOf(flags).body;
  const hasFilter = Object.keys(filter).length > 0;
  refuseBoth(ids, flags);
  const edit = await editBy(flags, ids.length > 0 || hasFilter);
  const body = {
    vhost: vhostOf(flags),
    queue,
    ...(ids.length > 0 && { ids }),
    ...(hasFilter && { filter }),
    ...(flags.to !== undefined && { to: addressIn(flags.to) }),
    ...(flags.rate !== undefined && { rate: numberIn('--rate', flags.rate) }),
    ...(flags.limit !== undefined && { limit: numberIn('--limit', flags.limit) }),
    ...(edit && { edit }),
    ...(flags.dryRun === true && { dry_run: true }),
  };
  const started = await ask(api, 'POST', ['dlx', 'redrives'], shownQueue(queue, vhostOf(flags)), { body });
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
  if (flags.json !== true) {
    if (state.pairs !== undefined) out(pairsText(state.pairs));
    out(stateText(state));
  }
  // The exit code shows that messages did not move.
  if (state.state !== 'completed') throw new CtlFailure(exit.software, `Error: the redrive is ${state.state}`);
  if (state.left > 0) {
    const stay = state.left === 1 ? '1 message stays where it is' : `${state.left} messages stay where they are`;
    throw new CtlFailure(exit.data, `Error: ${stay}`);
  }
  if (ids.length > 0 && state.moved === 0) throw noneOf(ids, queue, vhostOf(flags));
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
export function addressIn(text: string): Address {
  const slash = text.lastIndexOf('/');
  if (slash < 0) {
    const remedy = `write '/${text}' for the queue`;
    throw new CtlFailure(exit.usage, `Error: --to must be EXCHANGE/KEY, but is '${text}'; ${remedy}`);
  }
  return { exchange: text.slice(0, slash), routing_key: text.slice(slash + 1) };
}

function numberIn(option: string, text: string): number {
  if (/^[0-9]{1,9}(\.[0-9]+)?$/.test(text)) return Number(text);
  throw new CtlFailure(exit.usage, `Error: ${option} must be a number, but is '${text}'`);
}

/** What to do about messages whose address is not known. */
export const unknown = (why: string): string =>
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
    ...(state.came_back > 0 ? [`${state.came_back} came back`] : []),
  ].join(', ');
  const destinations = state.destinations.map(({ name, count }) => [String(count), `to ${name}`]);
  const left = state.left_at.map(({ why, count, exchange, routing_key, example_id }) => [
    String(count),
    `${why}: ${exchange === null ? (notEdited[why] ?? unknown(why)) : `${exchange}/${routing_key}`}, for example message ${example_id}`,
  ]);
  const full = (state.may_refuse ?? []).map(({ name, max_length: most }) => {
    const limit = most === null ? 'a limit in bytes' : `a limit of ${most}`;
    return ['', `${name} has ${limit} and refuses what is beyond; such messages stay`];
  });
  const head = state.reason === null ? counts : `${counts} (${shownText(state.reason)})`;
  return [head, prettyColumns(undefined, [...destinations, ...left, ...full])].filter((part) => part !== '').join('\n');
}
