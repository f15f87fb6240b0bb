import {
  type Backend,
  type BackendDelivery,
  type CancelReason,
  type ConsumeOptions,
  type Consumption,
  ServerError,
} from '../../backends/index.js';
import type { Gate, MessageOrder } from './handler.js';
import type { ConsumerPlan } from './plan.js';

/** The largest prefetch of AMQP. */
const mostPrefetch = 65_535;

/** What a consumer with a gate needs. */
export interface GatedParts {
  readonly backend: Backend;
  readonly gate: () => Gate | undefined;
  readonly take: (delivery: BackendDelivery) => void;
  readonly plan: () => ConsumerPlan;
  /** The messages in hand that keep an order; undefined for other handlers. */
  readonly order: () => MessageOrder | undefined;
  /** The number of messages that handlers have in hand. */
  readonly atWork: () => number;
  /** See {@link AttemptWatch.interrupted}. */
  readonly interrupted: (failure: Error | undefined, isCancelled: boolean) => void;
}

/**
 * The consumer of a queue at its broker, with as many messages in hand as its gate allows. The prefetch of a consumer cannot change, so
 * another one takes its place. A consumer of handlers that keep an order stays: the next instance would become active while handlers of
 * this one are still at work.
 */
export class GatedConsumption {
  #consumption: Consumption | undefined;
  /** Consumers that were cancelled, while messages of theirs may be unsettled. */
  readonly #cancelled = new Set<Consumption>();
  /** The prefetch of the present consumer; undefined while there is none by intent. */
  #prefetch: number | undefined;
  /** Undefined until the first start, and from the end on. */
  #lost: ((failure: Error | undefined) => void) | undefined;
  #isOpen = true;
  #isStarting = false;
  #hasStarted = false;

  constructor(private readonly parts: GatedParts) {}

  /** True if it is started, also while there is no consumer because the gate is closed. */
  get running(): boolean {
    return this.#consumption !== undefined || (this.#lost !== undefined && this.#wanted === undefined);
  }

  /** False while messages that come may have to be held. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * @param lost called when the broker ended the consumer, with its error where there is one
   * @returns a promise if the broker answers later; it rejects when the consumer could not start
   */
  start(lost: (failure: Error | undefined) => void): Promise<void> | undefined {
    this.#lost = lost;
    this.#obey();
    this.#prefetch = this.#wanted;
    return this.#prefetch === undefined ? undefined : this.#consume(this.#prefetch);
  }

  /** Starts, ends or replaces the consumer as the gate says now. Handlers settle the messages that they have in hand. */
  adjust(): void {
    const lost = this.#lost;
    if (lost === undefined) return;
    this.#obey();
    const wanted = this.#wanted;
    if (this.#isStarting || wanted === this.#prefetch) return;
    const isRestored = this.#prefetch !== undefined && this.#consumption === undefined; // the broker ended it
    this.#prefetch = wanted;
    if (isRestored && wanted !== undefined) return; // it starts again soon
    this.#leave();
    if (wanted === undefined) return;
    const failed = (failure: unknown): void => lost(failure as Error);
    try {
      this.#consume(wanted)?.catch(failed);
    } catch (failure) {
      failed(failure);
    }
  }

  /**
   * Ends deliveries for good. Messages in hand can still be settled. A single active consumer stays until {@link close}: the next one
   * would get messages that are behind those in hand.
   */
  cancel(): void {
    this.#lost = undefined;
    this.parts.plan().rests(true);
    if (!this.parts.plan().isSingle || !this.#hasStarted) this.#consumption?.cancel();
  }

  /** Ends deliveries. Unsettled messages return to their queue. */
  close(): void {
    this.#lost = undefined;
    this.#consumption?.close();
    this.#consumption = undefined;
    for (const consumption of this.#cancelled) consumption.close();
    this.#cancelled.clear();
  }

  /** The prefetch that the gate allows; undefined for no consumer at all. */
  get #wanted(): number | undefined {
    const { prefetch } = this.parts.plan();
    const { admission = 'all', most } = this.parts.gate() ?? {};
    if (admission !== 'all' && this.parts.order() === undefined) return admission === 'one' ? 1 : undefined;
    return most === undefined ? prefetch : Math.min(most, prefetch === 0 ? most : prefetch, mostPrefetch);
  }

  /** Notes what the gate says about messages that come, or are in hand. */
  #obey(): void {
    const { admission = 'all', asks } = this.parts.gate() ?? {};
    const order = this.parts.order();
    this.#isOpen = (admission === 'all' && asks !== true) || order !== undefined;
    order?.admit(admission);
  }

  #consume(prefetch: number): Promise<void> | undefined {
    const { backend, take, plan } = this.parts;
    let consumption: Consumption | undefined;
    let isLost = false;
    const onCancel = (reason: CancelReason, failure?: Error): void => {
      isLost = true;
      this.parts.interrupted(failure, reason === 'deleted');
      if (consumption !== undefined) this.#cancelled.delete(consumption);
      if (consumption !== this.#consumption) return;
      this.#rested();
      this.#consumption = undefined;
      this.parts.order()?.end();
      this.#lost?.(failure);
    };
    plan().rests(false);
    this.#isStarting = true; // an embedded broker delivers before consume() returns, and handlers may pause their queue
    try {
      consumption = backend.consume(plan().queue, this.#options(prefetch, onCancel), take);
    } finally {
      this.#isStarting = false;
    }
    if (!isLost) this.#consumption = consumption;
    const { started } = consumption;
    this.#hasStarted = started === undefined;
    this.adjust();
    return started?.then(
      () => void (this.#hasStarted = true),
      (failure: unknown) => {
        if (consumption === this.#consumption) this.#consumption = undefined;
        throw failure instanceof ServerError ? this.#named(failure) : failure;
      },
    );
  }

  /** The error with the names of the handlers that do not start. */
  #named({ message, code, cause }: ServerError): ServerError {
    const origins = this.parts.plan().handlers.map(({ handler }) => handler.origin);
    return new ServerError(`${origins.join(', ')}: ${message}`, code, { cause });
  }

  #options(prefetch: number, onCancel: NonNullable<ConsumeOptions['onCancel']>): ConsumeOptions {
    const { priority } = this.parts.plan();
    const order = this.parts.order();
    return {
      prefetch,
      takesLate: true,
      ...(priority !== undefined && { priority }),
      onCancel,
      onInterrupted: (failure) => {
        this.parts.interrupted(failure, false);
        if (this.#consumption !== undefined) this.#rested();
        order?.interrupted();
      },
    };
  }

  /** What waited has returned to its queue, and counts no more beside the messages that come next. */
  #rested(): void {
    const plan = this.parts.plan();
    plan.rests(true);
    plan.rests(false);
  }

  /** A message that cannot be republished yet is unsettled, although no handler is at work: its consumer is kept until {@link close}. */
  #forgetEnded(): void {
    const isIdle = this.parts.atWork() === 0;
    for (const consumption of this.#cancelled) if (consumption.isOver ?? isIdle) this.#cancelled.delete(consumption);
  }

  /** Cancels the present consumer. */
  #leave(): void {
    const consumption = this.#consumption;
    this.#consumption = undefined;
    this.#forgetEnded();
    if (consumption === undefined) return;
    this.#cancelled.add(consumption);
    consumption.cancel();
    this.parts.plan().rests(true);
  }
}
