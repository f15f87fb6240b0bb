import { Deque } from '../deque.js';
import type { Entry } from './entry.js';

/** What a queue knows of a consumer. The consumer itself knows its prefetch limit and its channel. */
export interface ConsumerView {
  readonly priority: number;
  readonly exclusive: boolean;
  /** It has to settle deliveries that timed out: it is not the single active one (rule Q8). */
  readonly isTimedOut?: boolean;
  /**
   * False while its prefetch, its channel or its socket is full (rule J4). When there is room again, the consumer calls
   * `Queue.revive`.
   */
  canTake(): boolean;
  take(entry: Entry): void;
  /** The queue is gone (rule Q6). */
  cancelledByServer(): void;
}

/** Consumers of one priority, in turn (rule J5). A full consumer leaves the ring until it is revived. */
interface Rank {
  readonly priority: number;
  readonly ring: Deque<ConsumerView>;
  /** Places in the ring of removed consumers, which are skipped. */
  gone: number;
}

/** A queue's consumers, and whose turn it is: the highest priority that can take a message first (rule Q3). */
export class Consumers {
  /** In the order of their arrival; the first is the active one of a single-active-consumer queue (rule R3). */
  readonly #all = new Set<ConsumerView>();
  readonly #inRing = new Set<ConsumerView>();
  readonly #ranks: Rank[] = [];
  /** The ranks that get messages: {@link Consumers.#ranks}, or no rank while the queue is paused. */
  #served: readonly Rank[] = this.#ranks;
  /** True if only {@link active} gets messages and the queue is not paused. */
  #servesActive: boolean;
  /** Holders of unsettled deliveries besides the consumers: each removed consumer, and each fetched message. */
  holders = 0;

  constructor(
    readonly singleActive: boolean,
    readonly isQuorum: boolean,
  ) {
    this.#servesActive = singleActive;
  }

  /** While the queue is paused, {@link next} finds no consumer; all consumers keep their turns (rule X1). @param isServed false to pause */
  serve(isServed: boolean): void {
    this.#served = isServed ? this.#ranks : [];
    this.#servesActive = isServed && this.singleActive;
  }

  get count(): number {
    return this.#all.size;
  }

  /** As declare-ok has it: a quorum queue counts all holders, but not the consumers that wait for the single active one (rule Q13). */
  get announced(): number {
    if (!this.isQuorum) return this.count;
    return this.holders + (this.singleActive ? Math.min(this.count, 1) : this.count);
  }

  get hasExclusive(): boolean {
    for (const consumer of this.#all) return consumer.exclusive;
    return false;
  }

  /** The consumer that gets the messages of a single-active-consumer queue. */
  get active(): ConsumerView | undefined {
    for (const consumer of this.#all) if (consumer.isTimedOut !== true) return consumer;
    return undefined;
  }

  /** The consumer timed out: others are before it now (rule Q8). */
  leave(consumer: ConsumerView): void {
    if (this.#all.delete(consumer)) this.#all.add(consumer);
  }

  add(consumer: ConsumerView): void {
    if (this.#all.size === 1) for (const lone of this.#all) this.#leaveIfFull(lone);
    this.#all.add(consumer);
    this.#enter(consumer);
  }

  remove(consumer: ConsumerView): void {
    this.#all.delete(consumer);
    if (!this.#inRing.delete(consumer)) return;
    const rank = this.#rank(consumer.priority);
    // Places of removed consumers are cleared many at a time: otherwise the removal of n consumers would take n * n steps.
    if (++rank.gone * 2 <= rank.ring.length) return;
    rank.ring.filter((other) => this.#inRing.has(other));
    rank.gone = 0;
  }

  /** The consumer has room again: it returns to the ring. */
  revive(consumer: ConsumerView): void {
    if (this.#all.has(consumer) && !this.#inRing.has(consumer)) this.#enter(consumer);
  }

  /** The consumer of the next message; undefined when none can take one. */
  next(): ConsumerView | undefined {
    if (this.#servesActive) {
      const active = this.active;
      return active?.canTake() ? active : undefined;
    }
    for (const rank of this.#served) {
      const { ring } = rank;
      // The only consumer of a rank keeps its place.
      const only = ring.length === 1 && rank.gone === 0 ? ring.first() : undefined;
      if (only?.canTake() === true) return only;
      for (let consumer = ring.shift(); consumer !== undefined; consumer = ring.shift()) {
        if (rank.gone > 0 && !this.#inRing.has(consumer)) {
          rank.gone--;
          continue;
        }
        if (consumer.canTake()) {
          ring.push(consumer);
          return consumer;
        }
        this.#inRing.delete(consumer);
      }
    }
    return undefined;
  }

  /** Called after the consumer of {@link next} took its message. It is then the last in the ring of its rank. */
  took(consumer: ConsumerView): void {
    // A single consumer keeps its place in the ring: it is checked when a second one is added.
    if (this.#all.size > 1) this.#leaveIfFull(consumer);
  }

  /** Rule J5: a consumer of a quorum queue that is full after a delivery leaves the ring at once. */
  #leaveIfFull(consumer: ConsumerView): void {
    if (!this.isQuorum || this.singleActive || consumer.canTake() || !this.#inRing.delete(consumer)) return;
    const { ring } = this.#rank(consumer.priority);
    if (ring.at(ring.length - 1) === consumer) ring.removeAt(ring.length - 1);
    else ring.filter((other) => other !== consumer);
  }

  /** Removes all consumers; the caller cancels them. */
  removeAll(): ConsumerView[] {
    const all = [...this.#all];
    this.#all.clear();
    this.#inRing.clear();
    this.#ranks.length = 0;
    return all;
  }

  #enter(consumer: ConsumerView): void {
    this.#inRing.add(consumer);
    this.#rank(consumer.priority).ring.push(consumer);
  }

  #rank(priority: number): Rank {
    let index = this.#ranks.findIndex((rank) => rank.priority <= priority);
    if (index < 0) index = this.#ranks.length;
    const found = this.#ranks[index];
    if (found?.priority === priority) return found;
    const rank: Rank = { priority, ring: new Deque<ConsumerView>(), gone: 0 };
    this.#ranks.splice(index, 0, rank);
    return rank;
  }
}
