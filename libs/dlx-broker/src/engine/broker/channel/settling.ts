import type { Task } from '../scheduler/task.js';
import { type SettlementGroup, SettlementGroups } from './settlement-groups.js';
import type { Outstanding } from './outstanding.js';

/** The number of deliveries that one step of the scheduler puts into their groups. */
const groupedPerStep = 16;

/** What a settlement of many deliveries needs of its channel. */
export interface SettlingHome {
  /** The next delivery to be settled, undefined after the last. */
  next(): Outstanding | undefined;
  apply(record: Outstanding, now: number): void;
  /** Lets the queues deliver what is possible by now. @returns steps taken; as many as the limit when there may be more */
  serve(now: number, limit: number): number;
  /** Whether the channel is lost: then the queues deliver when all messages are back, and messages of `basic.get` are ordered differently. */
  readonly isLoss: boolean;
  /** Whether the queues deliver after each group. Otherwise they deliver after the last group. */
  readonly deliversBetween: boolean;
}

/**
 * A settlement of many deliveries, in turns. They are put into groups by queue and consumer, and settled group by group. A queue
 * delivers what a group makes possible before its next group is settled (rule J6).
 */
export class Settling implements Task {
  readonly #groups = new SettlementGroups();
  #ordered: readonly SettlementGroup[] | undefined;
  #nextGroup = 0;
  #mayDeliver = false;

  constructor(readonly home: SettlingHome) {}

  work(now: number, limit: number): number {
    let steps = 0;
    while (steps < limit) {
      if (this.#ordered === undefined) {
        steps++;
        this.#group();
        continue;
      }
      if (this.#mayDeliver) {
        steps += this.home.serve(now, limit - steps);
        if (steps >= limit) break;
        this.#mayDeliver = false;
      }
      if (!this.#settleNext(this.#ordered, now)) return steps;
      steps++;
    }
    return limit;
  }

  #group(): void {
    for (let count = 0; count < groupedPerStep; count++) {
      const record = this.home.next();
      if (record === undefined) {
        this.#ordered = this.home.isLoss ? this.#groups.inOrderOfLoss() : this.#groups.inOrder();
        return;
      }
      this.#groups.add(record);
    }
  }

  /** Settles the next delivery. @returns false when there is none */
  #settleNext(ordered: readonly SettlementGroup[], now: number): boolean {
    const group = ordered[this.#nextGroup];
    if (group === undefined) return false;
    const record = group.records.shift();
    if (record !== undefined) this.home.apply(record, now);
    const isEmpty = group.records.length === 0;
    if (isEmpty) this.#nextGroup++;
    this.#mayDeliver = this.home.deliversBetween && (isEmpty || group.isFetched);
    return true;
  }
}
