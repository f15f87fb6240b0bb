import { Deque } from '../deque.js';
import { priorityIn } from '../queue/priority-list.js';
import type { Queue } from '../queue/queue.js';
import type { Outstanding } from './outstanding.js';

/** Whether the queue has priorities. */
export const hasPriorities = (queue: Queue): boolean => queue.settings.maxPriority !== undefined;

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
export class RecordsByPriority {
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
