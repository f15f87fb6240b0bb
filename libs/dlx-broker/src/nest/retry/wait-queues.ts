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
import { longestDuration } from '../../platform/options/index.js';
import { stepUp } from './steps.js';
import type { Backend } from '../../backends/index.js';
import type { QueueDeclaration } from '../../backends/topology/index.js';
import type { Notices } from './notices.js';

/** The wait queue of one delay, as far as this process knows. */
interface WaitQueueState {
  /** Milliseconds since 1970 when it was last declared; undefined while it is being declared. */
  declaredAt: number | undefined;
  declaring: Promise<void> | undefined;
}

/**
 * Declares the wait queues to which failed messages are sent: when one is first needed, and again before its lease ends, because
 * a publish alone does not renew a lease (rule B12).
 */
export class WaitQueues {
  readonly #known = new Map<number, WaitQueueState>();
  readonly #lots = new Map<string, Promise<void>>();
  readonly #readyLots = new Set<string>();
  /** The declarations of parking lots, by name. A lot without one is declared as a plain queue. */
  #declarations: ReadonlyMap<string, QueueDeclaration> = new Map();
  #kept: readonly number[] = [];
  #leased: WaitQueues | undefined;
  /** True when the wait queues have no lease. They stay, so there must be few of them. */
  readonly #isFixed: boolean;

  constructor(
    private readonly backend: Backend,
    readonly type: WaitQueueType = 'classic',
    /** The exchange to which the wait queues dead-letter; by default the default exchange, and so a queue. */
    readonly exchange = '',
    /** Notices of parked messages; undefined without the option. */
    readonly notices?: Notices,
  ) {
    this.#isFixed = type === 'quorum';
  }

  /**
   * Classic wait queues, for messages that return to a queue which may be gone: they drop such a message. A quorum wait queue keeps it, and
   * returns nothing at all any more after 32 of them.
   */
  get leased(): WaitQueues {
    return (this.#leased ??= this.#isFixed ? new LeasedWaitQueues(this.backend, this) : this);
  }

  /** The broker's time, in milliseconds since 1970. */
  now(): number {
    return this.backend.clock.now();
  }

  /**
   * Notes that the caller has declared the wait queues of these delays, and these parking lots.
   * @param queues what was declared: a parking lot that is deleted later is declared again in the same way
   */
  declared(delays: Iterable<number>, lots: Iterable<string> = [], queues: readonly QueueDeclaration[] = []): void {
    const declaredAt = this.now();
    const needed = [...delays];
    for (const delay of needed.length === 0 ? needed : delaysAtStart(needed, this.type))
      this.#known.set(delay, { declaredAt, declaring: undefined });
    for (const lot of lots) this.#readyLots.add(lot);
    this.#declarations = new Map(queues.filter(({ name }) => this.#readyLots.has(name)).map((lot) => [lot.name, lot]));
  }

  /**
   * The delay itself. When there are 64 wait queues, or with a fixed set of delays: the next longer one that has a wait queue; if it would be
   * much longer, or there is none, the next step of a fixed series, which gets one. It is never shorter.
   */
  atLeast(delay: number): number {
    const longer = this.above(delay);
    const step = Math.min(stepUp(delay), longestDuration);
    return longer !== undefined && (this.#isFixed || longer < step) ? longer : step;
  }

  /** The delay itself; or, when no further wait queue may be declared, the next longer delay that has one. */
  above(delay: number): number | undefined {
    if (this.#known.has(delay) || (!this.#isFixed && this.#inUse() < mostWaitQueues)) return delay;
    const longer = [...(this.#isFixed ? this.#fixed() : this.#known.keys())].filter((other) => other >= delay);
    return longer.length === 0 ? undefined : Math.min(...longer);
  }

  /** The name of the queue for a delay, and of the exchange in front of it. */
  nameOf(delay: number): string {
    return waitQueueName(delay, this.type, this.exchange);
  }

  /** @returns undefined if the wait queue of this delay exists; otherwise a promise that settles when it was declared */
  wait(delay: number): Promise<void> | undefined {
    const state = this.#known.get(delay);
    if (state?.declaredAt !== undefined && (this.#isFixed || this.now() < state.declaredAt + waitQueueLease / 2))
      return undefined;
    return state?.declaring ?? this.#declare(delay);
  }

  /**
   * Renews the leases of these wait queues until {@link close}, also without publishes from this process: other queues dead-letter
   * into them.
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

  /** Notes that a wait queue is missing. The next call of `wait` declares it again. */
  forget(delay: number): void {
    this.#known.delete(delay);
  }

  /** Declares a parking lot unless it exists, see `wait`. An existing one is not changed. */
  lot(queue: string): Promise<void> | undefined {
    if (this.#readyLots.has(queue)) return undefined;
    let declared = this.#lots.get(queue);
    if (declared === undefined) {
      declared = this.#declareLot(queue).finally(() => this.#lots.delete(queue));
      this.#lots.set(queue, declared);
    }
    return declared;
  }

  /** Notes that a parking lot is missing. The next call of `lot` declares it again. */
  forgetLot(queue: string): void {
    this.#readyLots.delete(queue);
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
        if (this.#known.get(delay) === state) this.#known.delete(delay); // the next call of wait() tries again
        throw error;
      },
    ));
  }

  async #declareLot(queue: string): Promise<void> {
    if ((await this.backend.status(queue)) === undefined) {
      const lot = this.#declarations.get(queue) ?? parkingLotQueue(queue, 'a parking lot', this.type);
      await this.backend.declare({ exchanges: [], queues: [lot], bindings: [] });
    }
    this.#readyLots.add(queue);
  }

  #fixed(): Iterable<number> {
    return [...clusterDelays, ...this.#known.keys()];
  }

  /** How many wait queues exist. The broker has deleted those whose lease ended. */
  #inUse(): number {
    const now = this.now();
    for (const [delay, { declaredAt }] of this.#known) {
      if (declaredAt !== undefined && now >= declaredAt + delay + waitQueueLease) this.#known.delete(delay);
    }
    return this.#known.size;
  }
}

/** Classic wait queues beside quorum ones, with the same parking lots. */
class LeasedWaitQueues extends WaitQueues {
  constructor(
    backend: Backend,
    private readonly beside: WaitQueues,
  ) {
    super(backend, 'classic', beside.exchange, beside.notices);
  }

  override lot(queue: string): Promise<void> | undefined {
    return this.beside.lot(queue);
  }

  override forgetLot(queue: string): void {
    this.beside.forgetLot(queue);
  }
}
