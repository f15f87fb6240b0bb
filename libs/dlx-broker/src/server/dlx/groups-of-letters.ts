import type { Entry, Queue } from '../../engine/broker/index.js';
import { workQueueOf } from '../../platform/history/index.js';
import { errorOf, reasonOf } from './letter-facts.js';
import { addTo, groupOf, groupToJson, type LetterGroup, mostGroups } from './letter-group.js';

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
export class GroupsOfLetters {
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
