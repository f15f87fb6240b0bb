import { Deque } from '../deque.js';
import type { Queue } from '../queue/queue.js';
import type { Outstanding } from './outstanding.js';
import { hasPriorities, RecordsByPriority } from './records-by-priority.js';

/** Deliveries that a queue settles in one step. */
export interface SettlementGroup {
  readonly queue: Queue;
  /** In the order in which they are settled. */
  readonly records: Deque<Outstanding> | RecordsByPriority;
  /** True for deliveries of `basic.get`: each of them is a step. */
  readonly isFetched: boolean;
  /** Groups of one queue are sorted by this key. Empty for deliveries of `basic.get`, which come first. */
  readonly key: string;
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
   * its consumer tag.
   */
  inOrderOfLoss(): SettlementGroup[] {
    return this.#all().flatMap(splitFetched).sort(byQueueAndKey);
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
      group = { queue, records, isFetched, key };
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

function splitFetched(group: SettlementGroup): SettlementGroup | SettlementGroup[] {
  const { queue, records, isFetched } = group;
  if (!isFetched || queue.declared.type !== 'quorum' || records.length > orderedConsumers) return group;
  const apart: SettlementGroup[] = [];
  records.each((record) => {
    const own = new Deque<Outstanding>();
    own.push(record);
    apart.push({ queue, records: own, isFetched, key: String(record.deliveryTag) });
  });
  return apart;
}

const byQueueAndKey = (one: SettlementGroup, other: SettlementGroup): number =>
  compare(one.queue.name, other.queue.name) || compare(one.key, other.key);

/** Compares texts by code units. */
export function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
