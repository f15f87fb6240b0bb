import type { Entry } from '../../engine/broker/index.js';
import { type Message } from '../../engine/message/index.js';
import { fingerprintIn, recordedAddressOf, workQueueOf } from '../../platform/history/index.js';
import { ok } from '../http/reply.js';
import type { Handler, Resource } from '../http/resource.js';
import { matcherOf } from './filter.js';
import { UnreadableBodies } from './payload.js';
import { cursorIn, filterInQuery, filterNames, numberIn, onlyKnown, wordIn } from './input.js';
import { diedIn, errorOf, reasonOf } from './letter-facts.js';
import { addTo, groupOf, groupToJson, type LetterGroup, mostGroups } from './letter-group.js';
import { scanned } from './messages.js';
import { aboutQueue, readableQueue } from './readable-queue.js';
import { cursorText, scan } from './scan.js';
import { inTurns } from '../http/turns.js';

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
  const unread = new UnreadableBodies();
  const work = scan({
    queue,
    matches: matcherOf(filterInQuery(query), unread),
    after: cursorIn(query),
    most: numberIn(query, 'scan', scanned.most, 1, scanned.most),
    now: () => management.now(),
    found,
  });
  const { scanned: looked, next } = await inTurns(work, management.dlx.turns, request.signal);
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
    scanned: looked,
    complete: next === undefined,
    cursor: cursorText(next),
    ...unread.json,
  });
};

const exampleOf = (by: keyof typeof groupings, { message }: Entry): Pick<GroupOfValue, 'error'> =>
  by === 'fingerprint' ? { error: errorOf(message)?.kind ?? null } : {};

export const groups: readonly Resource[] = [
  { path: '/dlx/queues/:vhost/:name/groups', allows: 'management', GET: group },
];
