import type { Queue, User, VirtualHost } from '../../../engine/broker/index.js';
import type { Address } from '../../../engine/message/index.js';
import type { JsonObject } from '../../http/body.js';
import { badRequest } from '../../http/reply.js';
import { type BreakerSettings, defaultBreaker, defaultRate } from '../../redrive/index.js';
import type { MessageFilter } from '../filter.js';
import { addressIn, booleanAt, filterInJson, notAn, objectEntries, onlyKnown } from '../input.js';

/** Messages of one queue: those that match a filter, or that have certain positions. */
export interface RedriveGroup {
  readonly vhost: VirtualHost;
  readonly queue: Queue;
  /** Selects messages by a filter, or by positions. */
  readonly filter?: MessageFilter;
  readonly ids?: readonly number[];
  /** The most messages of this group that are moved. */
  readonly limit?: number;
}

/** The messages of a redrive, their destination and the rate. A redrive of several groups has its first one here. */
export interface RedriveOrder extends RedriveGroup {
  /**
   * The user whose rights apply, see {@link VirtualHost.check}; undefined for the host application, which needs none.
   */
  readonly user: User | undefined;
  /** The value of the header `dlx-redriven-by`. */
  readonly by: string;
  /** All groups, if there are several. They follow one another, and a message belongs to the first one that it fits. */
  readonly groups?: readonly RedriveGroup[];
  /** Default: the origin of each message. */
  readonly to?: Address;
  /** Messages a second; Infinity is no limit. */
  readonly rate: number;
  /** The most messages, of all groups together. */
  readonly limit?: number;
  /** Undefined: the redrive continues, however many messages come back. */
  readonly circuit?: BreakerSettings;
  /** Keeps deaths, attempts and errors on the message: it is put aside, and not tried again. */
  readonly keepsHistory?: boolean;
  /** Only counts the destinations, and moves nothing. */
  readonly dryRun: boolean;
}

/** The groups of a redrive. One without a list of groups is one group, whose limit is that of the redrive. */
export const groupsOf = (order: RedriveOrder): readonly RedriveGroup[] =>
  order.groups ?? [
    {
      vhost: order.vhost,
      queue: order.queue,
      ...(order.filter && { filter: order.filter }),
      ...(order.ids && { ids: order.ids }),
    },
  ];

/** The names of the virtual host and of the queue that all groups share; each is undefined if they differ. */
export function sharedNames(order: RedriveOrder): { readonly vhost?: string; readonly queue?: string } {
  const { vhost, queue } = order;
  const groups = groupsOf(order);
  return {
    ...(groups.every((group) => group.vhost === vhost) && { vhost: vhost.name }),
    ...(groups.every((group) => group.queue === queue) && { queue: queue.name }),
  };
}

/** The keys that select messages, of a redrive or of one of its groups. */
const ofGroup = ['vhost', 'queue', 'filter', 'ids'];
const keys = [...ofGroup, 'groups', 'to', 'rate', 'limit', 'circuit', 'keep_history', 'dry_run'];
/** The highest rate in messages a second; 0 is no limit. */
const fastest = 100_000;
/** The most ids, and the most groups, of a redrive. */
const mostIds = 10_000;
const mostGroups = 1_000;

/** Finds the queue of a group, if the user may read from it. */
type FindQueue = (vhost: string, queue: string) => Pick<RedriveGroup, 'vhost' | 'queue'>;

/**
 * Reads a redrive.
 * @throws Problem 400 naming the invalid field
 */
export function redriveIn(body: JsonObject, user: User, find: FindQueue): RedriveOrder {
  onlyKnown(Object.keys(body), keys, 'key');
  const groups = body['groups'] === undefined ? [groupIn(body, find)] : groupsIn(body, find);
  const [{ limit: _ofFirst, ...first }] = groups as [RedriveGroup];
  const to = addressIn(body['to']);
  const limit = within(body, 'limit', 1, Number.MAX_SAFE_INTEGER);
  const circuit = circuitIn(body['circuit']);
  const keepsHistory = booleanAt(body, 'keep_history');
  if (keepsHistory && to === undefined)
    throw badRequest("'keep_history' moves messages aside: name their target in 'to'");
  return {
    ...first,
    user,
    by: user.name,
    ...(body['groups'] !== undefined && { groups }),
    ...(to && { to }),
    rate: (within(body, 'rate', 0, fastest) ?? defaultRate) || Infinity,
    ...(limit !== undefined && { limit }),
    ...(circuit && { circuit }),
    ...(keepsHistory && { keepsHistory }),
    dryRun: booleanAt(body, 'dry_run'),
  };
}

/** @throws Problem 400 */
function groupsIn(body: JsonObject, find: FindQueue): readonly RedriveGroup[] {
  const { groups } = body;
  for (const key of ofGroup) if (body[key] !== undefined) throw badRequest(`'${key}' belongs into each of 'groups'`);
  if (!Array.isArray(groups)) throw notAn('array', 'groups');
  if (groups.length === 0) throw badRequest("'groups' is empty");
  if (groups.length > mostGroups) throw badRequest(`'groups' has more than ${mostGroups}`);
  const all = groups.map((given: unknown, index) => {
    const at = `groups[${index}]`;
    const entries = objectEntries(given, at);
    onlyKnown(entries.keys(), [...ofGroup, 'limit'], `key of '${at}'`);
    const group = Object.fromEntries(entries);
    const limit = within(group, 'limit', 1, Number.MAX_SAFE_INTEGER);
    return { ...groupIn(group, find), ...(limit !== undefined && { limit }) };
  });
  const ids = all.reduce((sum, group) => sum + (group.ids?.length ?? 0), 0);
  if (ids > mostIds) throw badRequest(`'groups' have more than ${mostIds} ids`);
  return all;
}

/** @throws Problem 400 */
function groupIn({ vhost, queue, ids: given, filter }: JsonObject, find: FindQueue): RedriveGroup {
  if (typeof vhost !== 'string' || typeof queue !== 'string') throw badRequest("'vhost' and 'queue' should be strings");
  const place = find(vhost, queue);
  const ids = idsIn(given);
  if (ids !== undefined && filter !== undefined) throw badRequest("'ids' and 'filter' exclude each other");
  return { ...place, ...(ids === undefined ? { filter: filterInJson(filter) } : { ids }) };
}

/** A number, or its digits as text; undefined if the key is missing. */
function within(object: JsonObject, key: string, least: number, most: number): number | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most) return number;
  throw badRequest(`'${key}' should be a whole number from ${least} to ${most}: ${JSON.stringify(value)}`);
}

function idsIn(value: unknown): readonly number[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw notAn('array', 'ids');
  if (value.length === 0) throw badRequest("'ids' is empty");
  if (value.length > mostIds) throw badRequest(`'ids' has more than ${mostIds}`);
  return value.map((id: unknown) => {
    if (typeof id === 'string' && /^\d{1,16}$/.test(id)) return Number(id);
    throw badRequest(`${JSON.stringify(id)} is no id of a message: they are strings of digits`);
  });
}

/** The circuit; `false` is no circuit. */
function circuitIn(value: unknown): BreakerSettings | undefined {
  if (value === undefined || value === null) return defaultBreaker;
  if (value === false) return undefined;
  const object = Object.fromEntries(objectEntries(value, 'circuit'));
  onlyKnown(Object.keys(object), ['percent', 'at_least'], "key of 'circuit'");
  return {
    percent: within(object, 'percent', 0, 100) ?? defaultBreaker.percent,
    atLeast: within(object, 'at_least', 1, 1_000_000) ?? defaultBreaker.atLeast,
  };
}
