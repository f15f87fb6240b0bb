import type { AsyncResource } from 'node:async_hooks';
import type { BackendDelivery } from '../../../backends/index.js';
import type { Message } from '../../../engine/message/index.js';
import { type InHandHome, InHandDelivery } from '../../retry/index.js';
import type { DlxContext } from '../../core/context.js';
import type { PlannedHandler } from '../../core/handler.js';
import type { Lane, LaneItem } from './key-lanes.js';
import { keyOf, type LaneKey } from './key-of.js';

/** A delivery for handlers that keep an order, and how to handle it. */
export interface OrderedJob {
  readonly delivery: BackendDelivery;
  /** The handler whose function gives the key. */
  readonly planned: PlannedHandler;
  readonly payload: unknown;
  /** The async context of the message. */
  readonly own: AsyncResource;
  /** Makes the context of an attempt. */
  contextOf(delivery: BackendDelivery): DlxContext;
  /** Begins an attempt. @param ended called when the handler has ended; it may come later than the settlement, or earlier */
  run(delivery: BackendDelivery, context: DlxContext, ended: () => void): void;
  /** Ends an attempt whose handler was not called. */
  fail(delivery: BackendDelivery, context: DlxContext, failure: unknown): void;
}

/** What a message in hand needs from its queue. */
export interface MessageHost {
  /** See {@link InHandHome.waitOf}. */
  waitOf(delay: number, message: OrderedMessage): number;
  /** It may enter the lane of its key, which was not known before. */
  moved(message: OrderedMessage, key: LaneKey): void;
  /** It is settled. */
  left(message: OrderedMessage): void;
  /** It waits for another attempt, for this many milliseconds. */
  waits(message: OrderedMessage, delay: number): void;
  /** An attempt cannot begin. */
  broken(message: OrderedMessage, delivery: BackendDelivery, fault: unknown): void;
}

/** What became of an attempt: still open, the delay before the next one, or settled. */
type Fate = 'open' | 'settled' | { readonly delay: number };

/** One attempt. */
interface Attempt {
  readonly delivery: InHandDelivery;
  readonly context: DlxContext;
}

/** A message in hand, from its delivery to its settlement: all its attempts. An attempt is over when its handler has ended and its fate is known. */
export class OrderedMessage implements InHandHome, LaneItem {
  /** Set by its queue. */
  lane!: Lane<OrderedMessage>;
  #next: Message;
  #attempt: Attempt;
  #hasKey = false;
  #isAtWork = false;
  #hasEnded = false;
  #fate: Fate = 'open';
  #failure: { readonly error: unknown } | undefined;

  constructor(
    readonly job: OrderedJob,
    private readonly host: MessageHost,
  ) {
    this.#next = job.delivery.message;
    this.#attempt = this.#newAttempt();
  }

  get isGone(): boolean {
    return this.job.delivery.settled;
  }

  /** The message as the present attempt gets it. */
  get message(): Message {
    return this.#attempt.delivery.message;
  }

  /** Asks for the key, in the async context of the message. A failure is kept for the attempt. @returns undefined also without a key */
  key(): LaneKey {
    const { planned, payload } = this.job;
    try {
      const key = keyOf(planned, payload, this.#attempt.context);
      this.#hasKey = true;
      return key;
    } catch (error) {
      this.#failure = { error };
      return undefined;
    }
  }

  start(): void {
    this.job.own.runInAsyncScope(this.#start, this);
  }

  /** The message is back in its queue, although the handler may still be at work. Another consumer may get it. */
  interrupted(): void {
    if (this.#isAtWork && this.isGone && this.#hasEnded) this.#end('settled');
  }

  waitOf(delay: number): number {
    return this.host.waitOf(delay, this);
  }

  held(delay: number, message: Message): void {
    this.#next = message;
    this.#end({ delay });
  }

  settled(): void {
    this.#end('settled');
  }

  #start(): void {
    this.#isAtWork = true;
    this.#hasEnded = false;
    this.#fate = 'open';
    if (this.#attempt.delivery.settled) this.#attempt = this.#newAttempt();
    const { delivery, context } = this.#attempt;
    const ended = (): void => {
      if (this.#attempt.delivery !== delivery || this.#hasEnded) return;
      this.#hasEnded = true;
      if (this.isGone && this.#fate === 'open') this.#fate = 'settled';
      this.#proceed();
    };
    try {
      if (!this.#hasKey && this.#failure === undefined) {
        const key = this.key();
        if (this.#hasKey) {
          this.#isAtWork = false;
          return this.host.moved(this, key);
        }
      }
      const failure = this.#failure;
      if (failure === undefined) return this.job.run(delivery, context, ended);
      this.#failure = undefined;
      this.job.fail(delivery, context, failure.error);
      ended();
    } catch (fault) {
      this.host.broken(this, delivery, fault);
      ended();
    }
  }

  #end(fate: Fate): void {
    this.#fate = fate;
    this.#proceed();
  }

  #proceed(): void {
    const fate = this.#fate;
    if (!this.#isAtWork || !this.#hasEnded || fate === 'open') {
      // A key function may settle the message by hand, before it is started: then it is gone, and is never started.
      return;
    }
    this.#isAtWork = false;
    if (fate === 'settled') this.host.left(this);
    else this.host.waits(this, fate.delay);
  }

  #newAttempt(): Attempt {
    const delivery = new InHandDelivery(this.job.delivery, this.#next, this);
    return { delivery, context: this.job.contextOf(delivery) };
  }
}
