import { compareBytes } from '../../message/index.js';
import { Deque } from '../deque.js';
import { priorityIn } from '../queue/priority-list.js';
import type { Profile } from '../profile.js';
import type { Queue } from '../queue/queue.js';
import type { Outstanding } from './outputs.js';

/** Whether the queue has priorities. */
const hasPriorities = (queue: Queue): boolean => queue.settings.maxPriority !== undefined;

/**
 * The priority by which deliveries are settled, the highest first. 0 if the queue has no priorities, and for `basic.get`.
 */
export function priorityOf({ from, entry, consumer }: Outstanding): number {
  const { maxPriority } = from.settings;
  return maxPriority === undefined || consumer === undefined ? 0 : priorityIn(maxPriority, entry.message);
}

/**
 * Sorts a few deliveries of one consumer into the order in which its queue settles them.
 * @param records in the order of their tags
 */
export function inOrderOfPriority(records: readonly Outstanding[]): readonly Outstanding[] {
  const first = records[0];
  if (first === undefined || records.length === 1 || !hasPriorities(first.from)) return records;
  return records.toSorted((one, other) => priorityOf(other) - priorityOf(one));
}

/**
 * Any number of deliveries of one consumer of a queue with priorities, which settles the highest priority first, and the deliveries of
 * one priority in order (rule J6).
 */
class RecordsByPriority {
  readonly #deques: (Deque<Outstanding> | undefined)[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(record: Outstanding): void {
    (this.#deques[priorityOf(record)] ??= new Deque()).push(record);
    this.#length++;
  }

  /** The first of the highest priority. */
  shift(): Outstanding | undefined {
    for (let priority = this.#deques.length - 1; priority >= 0; priority--) {
      const record = this.#deques[priority]?.shift();
      if (record === undefined) continue;
      this.#length--;
      return record;
    }
    return undefined;
  }

  each(visit: (record: Outstanding) => void): void {
    for (let priority = this.#deques.length - 1; priority >= 0; priority--) this.#deques[priority]?.each(visit);
  }
}

/** Deliveries that a queue settles in one step. */
export interface SettlementGroup {
  readonly queue: Queue;
  /** In the order in which they are settled. */
  readonly records: Deque<Outstanding> | RecordsByPriority;
  /** True for deliveries of `basic.get`: each of them is a step. */
  readonly isFetched: boolean;
  /** Groups of one queue are sorted by this key. Empty for deliveries of `basic.get`, which come first. */
  readonly key: string;
  /** {@link Consumer.order}; Infinity for `basic.get`. */
  readonly order: number;
}

/** RabbitMQ orders up to this many consumers by their tags, and more consumers by a hash. */
const orderedConsumers = 32;

/** The deliveries of one settlement, by queue and consumer tag (rule J6). */
export class SettlementGroups {
  readonly #groups = new Map<Queue, Map<string, SettlementGroup>>();
  #last: Outstanding | undefined;
  #lastGroup: SettlementGroup | undefined;

  /** To be called in the order of the delivery tags. */
  add(record: Outstanding): void {
    const isSame = this.#last !== undefined && isOfSameConsumer(record, this.#last);
    const group = isSame ? (this.#lastGroup as SettlementGroup) : this.#groupOf(record);
    group.records.push(record);
    this.#last = record;
    this.#lastGroup = group;
  }

  /** The groups in the order of the queues' names and the consumer tags. */
  inOrder(): SettlementGroup[] {
    return this.#all().sort(byQueueAndKey);
  }

  /**
   * The groups for a channel that ended: in a quorum queue each message of `basic.get` is a group of its own, with the delivery tag as
   * its consumer tag. By the order of subscriptions, fetched messages come last.
   */
  inOrderOfLoss({ losesInOrder }: Pick<Profile, 'losesInOrder'>): SettlementGroup[] {
    const most = losesInOrder ? Infinity : orderedConsumers;
    const groups = this.#all().flatMap((group) => splitFetched(group, most));
    return groups.sort(losesInOrder ? byQueueAndSubscription : byQueueAndKey);
  }

  #all(): SettlementGroup[] {
    return [...this.#groups.values()].flatMap((groups) => [...groups.values()]);
  }

  #groupOf({ from: queue, consumerTag: key, consumer }: Outstanding): SettlementGroup {
    let groups = this.#groups.get(queue);
    if (groups === undefined) this.#groups.set(queue, (groups = new Map<string, SettlementGroup>()));
    let group = groups.get(key);
    if (group === undefined) {
      const isFetched = consumer === undefined;
      const records = isFetched || !hasPriorities(queue) ? new Deque<Outstanding>() : new RecordsByPriority();
      group = { queue, records, isFetched, key, order: consumer?.order ?? Infinity };
      groups.set(key, group);
    }
    return group;
  }
}

/** Whether both deliveries are of one consumer of one queue, so that they belong to one group. */
export const isOfSameConsumer = (one: Outstanding, other: Outstanding): boolean =>
  one.from === other.from && one.consumer === other.consumer;

/** Whether one queue settles all these deliveries in one step. */
export function areOneStep(records: readonly Outstanding[]): boolean {
  const first = records[0];
  if (first === undefined) return true;
  if (first.consumer === undefined) return records.length === 1;
  for (const record of records) if (!isOfSameConsumer(record, first)) return false;
  return true;
}

function splitFetched(group: SettlementGroup, most: number): SettlementGroup | SettlementGroup[] {
  const { queue, records, isFetched } = group;
  if (!isFetched || queue.declared.type !== 'quorum' || records.length > most) return group;
  const apart: SettlementGroup[] = [];
  records.each((record) => {
    const own = new Deque<Outstanding>();
    own.push(record);
    apart.push({ ...group, records: own, key: String(record.deliveryTag) });
  });
  return apart;
}

const byQueueAndKey = (one: SettlementGroup, other: SettlementGroup): number =>
  compareBytes(one.queue.name, other.queue.name) || compareBytes(one.key, other.key);

const byQueueAndSubscription = (one: SettlementGroup, other: SettlementGroup): number =>
  compareBytes(one.queue.name, other.queue.name) ||
  (one.order === other.order ? compareBytes(one.key, other.key) : one.order - other.order);
