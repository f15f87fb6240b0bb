import { Deque } from '../deque.js';
import type { Queue } from '../queue/queue.js';
import type { Outstanding } from './outstanding.js';
import { hasPriorities, RecordsByPriority } from './records-by-priority.js';

/** Deliveries that a queue settles in one step. */
export interface SettlementGroup {
  readonly queue: Queue;
  /** In the order in which they are settled. */
  readonly records: Deque<Outstanding> | RecordsByPriority;
  /** What `basic.get` fetched: each of them is a step. */
  readonly isFetched: boolean;
  /** What groups of one queue are sorted by; what was fetched comes first. */
  readonly key: string;
}

/** Up to so many consumers RabbitMQ keeps in the order of their tags, more in the order of a hash. */
const orderedConsumers = 32;

/** What one settlement of many deliveries covers, by queue and consumer tag (rule J6). */
export class SettlementGroups {
  readonly #groups = new Map<Queue, Map<string, SettlementGroup>>();
  #last: Outstanding | undefined;
  #lastGroup: SettlementGroup | undefined;

  /** To be called in the order of the delivery tags. */
  add(record: Outstanding): void {
    const isSame = this.#last !== undefined && isOfSame(record, this.#last);
    const group = isSame ? (this.#lastGroup as SettlementGroup) : this.#groupOf(record);
    group.records.push(record);
    this.#last = record;
    this.#lastGroup = group;
  }

  /** In the order of the queues' names and the consumer tags. */
  inOrder(): SettlementGroup[] {
    return this.#all().sort(byQueueAndKey);
  }

  /**
   * The same for a channel that ended: a quorum queue takes every fetched message for a consumer of its own, whose tag is
   * the delivery tag as text.
   */
  inOrderOfLoss(): SettlementGroup[] {
    return this.#all().flatMap(eachFetchedApart).sort(byQueueAndKey);
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

/** Whether both are of one consumer of one queue, so that they stand in one group. */
export const isOfSame = (one: Outstanding, other: Outstanding): boolean =>
  one.from === other.from && one.consumer === other.consumer;

/** Whether a queue settles them all in one step. */
export function areOfOne(records: readonly Outstanding[]): boolean {
  const first = records[0];
  if (first === undefined) return true;
  if (first.consumer === undefined) return records.length === 1;
  for (const record of records) if (!isOfSame(record, first)) return false;
  return true;
}

function eachFetchedApart(group: SettlementGroup): SettlementGroup | SettlementGroup[] {
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

/** Compares as the bytes of plain text do. */
export function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
