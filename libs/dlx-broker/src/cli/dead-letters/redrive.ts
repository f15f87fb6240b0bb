import { setTimeout as wait } from 'node:timers/promises';
import { shownJson, shownText } from '../../host/index.js';
import type { Api } from '../ctl/api.js';
import { CtlFailure, exit } from '../ctl/exit.js';
import { prettyColumns } from './columns.js';
import { filterOf, type FilterFlags } from './filter.js';
import { ask, shownQueue, type CommonFlags, type CommandOutput } from './ask.js';

export interface RedriveFlags extends CommonFlags, FilterFlags {
  readonly to?: string;
  readonly rate?: string;
  readonly limit?: string;
  readonly dryRun?: true;
}

interface Address {
  readonly exchange: string;
  readonly routing_key: string;
}

/** The state of a redrive, as the API shows it. */
interface State {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly dry_run: boolean;
  readonly moved: number;
  readonly left: number;
  readonly gone: number;
  readonly came_back: number;
  readonly destinations: readonly { readonly name: string; readonly count: number }[];
  readonly left_at: readonly ({ [part in keyof Address]: string | null } & {
    why: string;
    count: number;
    example_id: string;
  })[];
}

/** Milliseconds between looks at a redrive that runs. */
const pause = 250;

/** Starts a redrive and waits for its end. If the command is interrupted, the redrive continues in the broker. */
export async function redrive(
  queue: string,
  ids: readonly string[],
  flags: RedriveFlags,
  api: Api,
  { out }: CommandOutput,
): Promise<void> {
  const filter = filterOf(flags).body;
  const hasFilter = Object.keys(filter).length > 0;
  if (hasFilter && ids.length > 0) throw new CtlFailure(exit.usage, 'Error: say which by ids or by a filter, not both');
  const body = {
    vhost: flags.vhost,
    queue,
    ...(ids.length > 0 && { ids }),
    ...(hasFilter && { filter }),
    ...(flags.to !== undefined && { to: addressIn(flags.to) }),
    ...(flags.rate !== undefined && { rate: numberIn('--rate', flags.rate) }),
    ...(flags.limit !== undefined && { limit: numberIn('--limit', flags.limit) }),
    ...(flags.dryRun === true && { dry_run: true }),
  };
  let reply = await ask(api, 'POST', ['dlx', 'redrives'], shownQueue(queue, flags.vhost), { body });
  while (isAtWork(reply.body as State)) {
    await wait(pause);
    const { id } = reply.body as State;
    reply = await ask(api, 'GET', ['dlx', 'redrives', id], `redrive ${id}: the broker was restarted`);
  }
  out(flags.json === true ? shownJson(reply.text) : stateText(reply.body as State));
  const { state, left } = reply.body as State;
  // The exit code shows that messages did not move.
  if (state !== 'completed') throw new CtlFailure(exit.software, `Error: the redrive is ${state}`);
  if (left > 0) throw new CtlFailure(exit.data, `Error: ${left} messages stay where they are`);
}

const isAtWork = ({ state }: State): boolean => state === 'running';

/** The last slash parts them: a routing key rarely has one. */
function addressIn(text: string): Address {
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
const unknown = (why: string): string =>
  why === 'unproven_origin'
    ? 'only their headers tell where they came from, which a client may have written; say with --to where they go'
    : 'nothing tells where they came from; say with --to where they go';

function stateText(state: State): string {
  const would = state.dry_run ? 'would be ' : '';
  const counts = [
    `${state.moved} ${would}redriven`,
    ...(state.left > 0 ? [`${state.left} left`] : []),
    ...(state.gone > 0 ? [`${state.gone} taken by another consumer`] : []),
    ...(state.came_back > 0 ? [`${state.came_back} came back`] : []),
  ].join(', ');
  const destinations = state.destinations.map(({ name, count }) => [String(count), `to ${name}`]);
  const left = state.left_at.map(({ why, count, exchange, routing_key, example_id }) => [
    String(count),
    `${why}: ${exchange === null ? unknown(why) : `${exchange}/${routing_key}`}, for example message ${example_id}`,
  ]);
  const head = state.reason === null ? counts : `${counts} (${shownText(state.reason)})`;
  return [head, prettyColumns(undefined, [...destinations, ...left])].filter((part) => part !== '').join('\n');
}
