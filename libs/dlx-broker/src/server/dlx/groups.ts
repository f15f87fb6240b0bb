import { AmqpError, type Entry, type Queue, type User, type VirtualHost } from '../../engine/broker/index.js';
import type { Message } from '../../engine/message/index.js';
import { fingerprintIn, recordedAddressOf, workQueueOf } from '../../platform/history/index.js';
import { badRequest, ok } from '../http/reply.js';
import type { Handler, Resource } from '../http/resource.js';
import { inTurns } from '../http/turns.js';
import type { Management } from '../management.js';
import { matcherOf, type Matches, scan } from './filter.js';
import type { DeadLetterGraph } from './graph/dead-letter-graph.js';
import { filterInQuery, filterNames, numberIn, onlyKnown, wordIn } from './input.js';
import { deadLetterSign, diedIn, errorOf, reasonOf, timeOf } from './letter-facts.js';
import { idOf, UnreadableBodies } from './message-json.js';
import { scanned, search } from './messages.js';
import { aboutQueue, readableQueue, seenVhosts } from './named.js';

/** The largest number of groups in an answer. Messages of further groups are counted together. */
export const mostGroups = 1_000;

/** Messages that have something in common. */
export interface LetterGroup {
  count: number;
  /** The id of the first message of the group. */
  readonly example: string;
  oldest: number | undefined;
  newest: number | undefined;
}

/** A group of one message. */
export function groupOf(entry: Entry): LetterGroup {
  const time = timeOf(entry.message);
  return { count: 1, example: idOf(entry), oldest: time, newest: time };
}

/** Adds a message to a group. */
export function addTo(known: LetterGroup, message: Message): void {
  known.count++;
  const time = timeOf(message);
  if (time === undefined) return;
  if (known.oldest === undefined || time < known.oldest) known.oldest = time;
  if (known.newest === undefined || time > known.newest) known.newest = time;
}

/** A group as JSON; times are milliseconds since 1970. */
export const groupToJson = ({ count, example, oldest, newest }: LetterGroup): object => ({
  count,
  example_id: example,
  oldest: oldest ?? null,
  newest: newest ?? null,
});

/** The properties by which messages are grouped. Each is also a parameter of the filter, with `-` for `_`. */
const groupings = {
  reason: reasonOf,
  error: (message) => errorOf(message)?.kind,
  fingerprint: fingerprintIn,
  queue: diedIn,
  'first-queue': workQueueOf,
  exchange: (message) => recordedAddressOf(message).exchange,
  'routing-key': (message) => recordedAddressOf(message).routingKey,
} as const satisfies Record<string, (message: Message) => string | undefined>;

/** A group of one value of a property. */
interface GroupOfValue extends LetterGroup {
  /** The kind of error of the first message. Only with `by=fingerprint`: a fingerprint by itself says nothing to a reader. */
  readonly error?: string | null;
}

const group: Handler = async (request, management) => {
  const { query } = request;
  onlyKnown(query.keys(), [...Object.keys(filterNames), 'header', 'by', 'cursor', 'scan'], 'parameter');
  const queue = readableQueue(request, management);
  const by = wordIn(query, 'by', Object.keys(groupings) as (keyof typeof groupings)[]);
  const groups = new Map<string, GroupOfValue>();
  let others = 0;
  const found = (entry: Entry): boolean => {
    const value = groupings[by](entry.message) ?? '';
    const known = groups.get(value);
    if (known !== undefined) addTo(known, entry.message);
    else if (groups.size < mostGroups) groups.set(value, { ...groupOf(entry), ...exampleOf(by, entry) });
    else others++;
    return true;
  };
  const progress = await search(request, management, queue, scanned.most, found);
  return ok({
    ...aboutQueue(queue),
    by,
    groups: [...groups]
      .sort(([, one], [, other]) => other.count - one.count)
      .map(([value, found]) => ({
        value,
        ...groupToJson(found),
        ...(found.error !== undefined && { error: found.error }),
      })),
    others,
    ...progress,
  });
};

const exampleOf = (by: keyof typeof groupings, { message }: Entry): Pick<GroupOfValue, 'error'> =>
  by === 'fingerprint' ? { error: errorOf(message)?.kind ?? null } : {};

export const groups: readonly Resource[] = [
  { path: '/dlx/queues/:vhost/:name/groups', allows: 'management', GET: group },
];

/** What the messages of a group have in common. */
interface Common {
  readonly queue: Queue;
  readonly reason: string;
  readonly firstQueue: string;
  readonly error: string;
}

interface KnownGroup extends Common {
  readonly group: LetterGroup;
}

/** The groups of one queue: by reason, first queue and kind of error. */
type OfQueue = Map<string, Map<string, Map<string, KnownGroup>>>;

/** Groups dead letters by the queue that holds them, the reason, the queue in which they died first, and the kind of error. */
class GroupsOfLetters {
  readonly #byQueue = new Map<Queue, OfQueue>();
  readonly #all: KnownGroup[] = [];
  /** The number of messages beyond the largest number of groups. */
  others = 0;

  add(queue: Queue, entry: Entry): void {
    const { message } = entry;
    const reason = reasonOf(message) ?? '';
    const firstQueue = workQueueOf(message) ?? '';
    const error = errorOf(message)?.kind ?? '';
    const known = this.#byQueue.get(queue)?.get(reason)?.get(firstQueue)?.get(error);
    if (known !== undefined) addTo(known.group, message);
    else if (this.#all.length < mostGroups) this.#begin({ queue, reason, firstQueue, error }, entry);
    else this.others++;
  }

  #begin(common: Common, entry: Entry): void {
    const { queue, reason, firstQueue, error } = common;
    const known = { ...common, group: groupOf(entry) };
    const ofQueue = within(this.#byQueue, queue, () => new Map() as OfQueue);
    const ofReason = within(ofQueue, reason, () => new Map<string, Map<string, KnownGroup>>());
    within(ofReason, firstQueue, () => new Map<string, KnownGroup>()).set(error, known);
    this.#all.push(known);
  }

  /** The groups, most messages first. */
  toJSON(): readonly object[] {
    return [...this.#all]
      .sort((one, other) => other.group.count - one.group.count)
      .map(({ queue, reason, firstQueue, error, group }) => ({
        vhost: queue.home.name,
        queue: queue.name,
        reason,
        first_queue: firstQueue,
        error,
        ...groupToJson(group),
      }));
  }
}

/** The value of a key, which is made if there is none. */
function within<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

/** In this resource `queue` is the queue that holds the messages, and `died_in` the queue of the latest death. */
const parameters = [...Object.keys(filterNames), 'header', 'died_in', 'vhost', 'scan'];

/** The most queues that a request can name. */
const mostNames = 100;

/** A virtual host that is searched, and the ways of dead letters in it. */
interface Place {
  readonly vhost: VirtualHost;
  readonly graph: DeadLetterGraph;
}

interface QueueName {
  readonly vhost: string;
  readonly queue: string;
}

/** A queue that is not searched. */
interface Skipped extends QueueName {
  readonly why: string;
}

interface Searched {
  readonly queues: readonly Queue[];
  readonly skipped: readonly Skipped[];
  /** Those of the searched queues that only headers of their next message call dead-letter queues. */
  readonly unproven: readonly QueueName[];
}

/** Groups of the messages in all dead-letter queues from which the user may read, or in the named queues. */
const groupAll: Handler = async (request, management) => {
  const { query, user, signal } = request;
  onlyKnown(query.keys(), parameters, 'parameter');
  const { dlx } = management;
  const names = query.getAll('queue');
  if (names.length > mostNames) throw badRequest(`more than ${mostNames} queues are named`);
  const unread = new UnreadableBodies();
  const matches = matcherOf(filterInQuery(withQueueOfDeath(query)), unread);
  const most = numberIn(query, 'scan', scanned.most, 1, scanned.most);
  const places: Place[] = [];
  for (const vhost of seenVhosts(request, management)) places.push({ vhost, graph: await dlx.graphs.of(vhost) });
  const { queues, skipped, unproven } = await inTurns(queuesIn(places, names, user), dlx.turns, signal);
  const groups = new GroupsOfLetters();
  const work = searched(queues, { matches, most, groups, management });
  const found = await inTurns(work, dlx.turns, signal);
  return ok({
    groups: groups.toJSON(),
    queues: queues.length,
    others: groups.others,
    ...found,
    skipped,
    unproven,
    ...unread.json,
  });
};

/** The parameters of a filter of messages. */
function withQueueOfDeath(query: URLSearchParams): URLSearchParams {
  const filter = new URLSearchParams(query);
  filter.delete('queue');
  for (const name of query.getAll('died_in')) filter.append('queue', name);
  return filter;
}

/** The queues to be searched, shortest first, so that a limit of messages cuts off as few queues as possible. */
function* queuesIn(places: readonly Place[], names: readonly string[], user: User): Generator<void, Searched, void> {
  const queues: Queue[] = [];
  const skipped: Skipped[] = [];
  const unproven: QueueName[] = [];
  for (const { vhost, graph } of places) {
    for (const queue of namedIn(vhost, names) ?? graph.queues) {
      yield;
      const sign = queue.deleted ? undefined : deadLetterSign(queue, graph);
      if (queue.deleted || (names.length === 0 && sign === undefined)) continue;
      const why = refusalOf(vhost, queue, user);
      const name = { vhost: vhost.name, queue: queue.name };
      if (why !== undefined) skipped.push({ ...name, why });
      else queues.push(queue);
      if (why === undefined && sign === 'claimed') unproven.push(name);
    }
  }
  return { queues: queues.sort((one, other) => one.length - other.length), skipped, unproven };
}

function namedIn({ queues }: VirtualHost, names: readonly string[]): readonly Queue[] | undefined {
  if (names.length === 0) return undefined;
  return [...new Set(names)].map((name) => queues.get(name)).filter((queue) => queue !== undefined);
}

/** Why the user may not look into a queue; undefined if the user may. */
function refusalOf(vhost: VirtualHost, { name, declared }: Queue, user: User): string | undefined {
  if (declared.owner !== undefined) return 'exclusive to a connection';
  try {
    vhost.check(user, 'read', 'queue', name);
    return undefined;
  } catch (error) {
    if (error instanceof AmqpError) return 'no right to read';
    throw error;
  }
}

interface Search {
  readonly matches: Matches | undefined;
  /** The most messages to examine. */
  readonly most: number;
  readonly groups: GroupsOfLetters;
  readonly management: Management;
}

function* searched(
  queues: readonly Queue[],
  { matches, most, groups, management }: Search,
): Generator<void, { scanned: number; complete: boolean }, void> {
  let looked = 0;
  let isComplete = true;
  for (const queue of queues) {
    if (queue.length === 0) continue;
    if (looked >= most) return { scanned: looked, complete: false };
    const { scanned: more, next } = yield* scan({
      queue,
      matches,
      most: most - looked,
      now: () => management.now(),
      found: (entry) => {
        groups.add(queue, entry);
        return true;
      },
    });
    looked += more;
    if (next !== undefined) isComplete = false;
    yield;
  }
  return { scanned: looked, complete: isComplete };
}

export const allGroups: readonly Resource[] = [{ path: '/dlx/groups', allows: 'management', GET: groupAll }];
