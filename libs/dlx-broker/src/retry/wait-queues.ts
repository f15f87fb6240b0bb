import {
  clusterDelays,
  delaysAtStart,
  mostWaitQueues,
  waitQueueLease,
  waitQueueName,
  waitQueueTopology,
  type WaitQueueType,
} from './wait-queue-names.js';
import { parkingLotQueue } from './parking-lot.js';
import type { Backend } from '../backend/index.js';

/** The wait queue of one delay, as far as this process knows. */
interface WaitQueueState {
  /** Milliseconds since 1970 when it was last declared; undefined while it is being declared. */
  declaredAt: number | undefined;
  declaring: Promise<void> | undefined;
}

/**
 * The queues to which failed messages are sent: declared when one is first needed, and again before their lease runs
 * out, for publishing alone does not keep a queue alive (rule B12).
 */
export class WaitQueues {
  readonly #known = new Map<number, WaitQueueState>();
  readonly #lots = new Map<string, Promise<void>>();
  readonly #readyLots = new Set<string>();
  #kept: readonly number[] = [];
  /** Its queues have no lease and stay, so that there must be few of them. */
  readonly #isFixed: boolean;

  constructor(
    private readonly backend: Backend,
    readonly type: WaitQueueType = 'classic',
    /** Where they lead to; by default the default exchange, and so a queue. */
    readonly exchange = '',
  ) {
    this.#isFixed = type === 'quorum';
  }

  /** The broker's time, in milliseconds since 1970. */
  now(): number {
    return this.backend.clock.now();
  }

  /** These stand: they were declared just now, with other things. */
  declared(delays: Iterable<number>, lots: Iterable<string> = []): void {
    const declaredAt = this.now();
    const needed = [...delays];
    for (const delay of needed.length === 0 ? needed : delaysAtStart(needed, this.type))
      this.#known.set(delay, { declaredAt, declaring: undefined });
    for (const lot of lots) this.#readyLots.add(lot);
  }

  /**
   * The delay itself, or the nearest for which there is a queue when there are as many as there may be. Of a fixed set the next
   * longer one, else the longest.
   */
  nearest(delay: number): number {
    if (this.#isFixed) return this.above(delay) ?? Math.max(...this.#fixed());
    if (this.#known.has(delay) || this.#inUse() < mostWaitQueues) return delay;
    let nearest = Infinity;
    for (const other of this.#known.keys()) {
      if (Math.abs(other - delay) < Math.abs(nearest - delay)) nearest = other;
    }
    return nearest;
  }

  /** The delay itself, or the next longer one for which there is a queue when there are as many as there may be. */
  above(delay: number): number | undefined {
    if (this.#known.has(delay) || (!this.#isFixed && this.#inUse() < mostWaitQueues)) return delay;
    let next = Infinity;
    for (const other of this.#isFixed ? this.#fixed() : this.#known.keys())
      if (other >= delay) next = Math.min(next, other);
    return next === Infinity ? undefined : next;
  }

  /** The name of the queue for a delay, and of the exchange in front of it. */
  nameOf(delay: number): string {
    return waitQueueName(delay, this.type, this.exchange);
  }

  /** @returns a promise while the wait queue of this delay is not known to stand; undefined once it is */
  wait(delay: number): Promise<void> | undefined {
    const state = this.#known.get(delay);
    if (state?.declaredAt !== undefined && (this.#isFixed || this.now() < state.declaredAt + waitQueueLease / 2))
      return undefined;
    return state?.declaring ?? this.#declare(delay);
  }

  /**
   * Renews the leases of these for as long as this process runs, whether or not it sends anything there: queues
   * dead-letter into them by themselves. {@link close} ends it.
   */
  keep(delays: readonly number[]): void {
    if (this.#isFixed) return;
    const { clock } = this.backend;
    this.#kept = delays;
    clock.wakeAt(delays.length === 0 ? undefined : clock.now() + waitQueueLease / 2, this.#renew);
  }

  close(): void {
    this.keep([]);
  }

  readonly #renew = (): void => {
    for (const delay of this.#kept) this.wait(delay)?.catch(() => undefined); // the next caller of wait() gets the error
    this.keep(this.#kept);
  };

  /** It turned out that the queue is not there: the next to need it declares it again. */
  forget(delay: number): void {
    this.#known.delete(delay);
  }

  /** The same for a parking lot: one that exists is taken as it is. */
  lot(queue: string): Promise<void> | undefined {
    if (this.#readyLots.has(queue)) return undefined;
    let declared = this.#lots.get(queue);
    if (declared === undefined) {
      declared = this.#declareLot(queue).finally(() => this.#lots.delete(queue));
      this.#lots.set(queue, declared);
    }
    return declared;
  }

  #declare(delay: number): Promise<void> {
    const state: WaitQueueState = { declaredAt: undefined, declaring: undefined };
    this.#known.set(delay, state);
    const declaredAt = this.now();
    const declared = this.backend.declare(
      waitQueueTopology([delay], this.exchange === '' ? 'retryIn' : 'emit', this.type, this.exchange),
    );
    return (state.declaring = declared.then(
      () => {
        state.declaring = undefined;
        state.declaredAt = declaredAt;
      },
      (error: unknown) => {
        if (this.#known.get(delay) === state) this.#known.delete(delay); // the next to need it tries again
        throw error;
      },
    ));
  }

  async #declareLot(queue: string): Promise<void> {
    if ((await this.backend.status(queue)) === undefined) {
      const lot = parkingLotQueue(queue, 'a parking lot', this.type);
      await this.backend.declare({ exchanges: [], queues: [lot], bindings: [] });
    }
    this.#readyLots.add(queue);
  }

  #fixed(): Iterable<number> {
    return [...clusterDelays, ...this.#known.keys()];
  }

  /** Queues whose lease ran out have gone by themselves. */
  #inUse(): number {
    const now = this.now();
    for (const [delay, { declaredAt }] of this.#known) {
      if (declaredAt !== undefined && now >= declaredAt + delay + waitQueueLease) this.#known.delete(delay);
    }
    return this.#known.size;
  }
}
