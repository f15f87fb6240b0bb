import type { BackendDelivery } from '../../../backends/index.js';
import type { Message } from '../../../engine/message/index.js';
import type { DlxContext } from '../../core/context.js';
import { settingOf } from '../../core/handler-settings.js';
import type { Handler, Job, PlannedHandler } from '../../core/handler.js';
import { InHandDelivery, type InHandHome } from '../../retry/index.js';
import { breachBefore } from '../contract/feature.js';
import { textOfKey } from '../message-key.js';
import { orderedDecorator } from './decorator.js';
import type { Lane, LaneItem, LaneKey } from './key-lanes.js';

/** What a message in hand needs from its queue. */
export interface MessageHost {
  /** See {@link InHandHome.waitOf}. */
  waitOf(delay: number, message: OrderedMessage): number;
  /** It may enter the lane of its key, which was not known before. */
  moved(message: OrderedMessage, key: LaneKey): void;
  /** It is settled. */
  left(message: OrderedMessage): void;
  /** An attempt begins. @param payload as the handler gets it @param ended called when the handler has ended */
  begins(job: Job, attempt: OrderedAttempt, payload: unknown, ended: () => void): void;
  /** It waits for another attempt, for this many milliseconds. */
  waits(message: OrderedMessage, delay: number): void;
  /** An attempt cannot begin. */
  broken(message: OrderedMessage, delivery: BackendDelivery, fault: unknown): void;
}

/** What became of an attempt: still open, the delay before the next one, or settled. */
type Fate = 'open' | 'settled' | { readonly delay: number };

/** One attempt. */
export interface OrderedAttempt {
  readonly delivery: InHandDelivery;
  readonly context: DlxContext;
}

/** A message in hand, from its delivery to its settlement: all its attempts. An attempt is over when its handler has ended and its fate is known. */
export class OrderedMessage implements InHandHome, LaneItem {
  /** Set by its queue. */
  lane!: Lane<OrderedMessage>;
  #next: Message;
  #attempt: OrderedAttempt;
  /** True once a handler had the message. */
  #hasBegun = false;
  #hasKey = false;
  #isAtWork = false;
  #hasEnded = false;
  #fate: Fate = 'open';
  #failure: { readonly error: unknown } | undefined;

  constructor(
    readonly job: Job,
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
      if (failure === undefined) {
        const payload = this.#hasBegun ? this.job.read() : this.job.payload;
        this.#hasBegun = true;
        return this.host.begins(this.job, this.#attempt, payload, ended);
      }
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

  #newAttempt(): OrderedAttempt {
    const delivery = new InHandDelivery(this.job.delivery, this.#next, this);
    return { delivery, context: this.job.contextOf(delivery) };
  }
}

/**
 * Asks the function of a handler for the key of a message.
 * @throws ContractError for a payload without a key that breaks the contract of the handler: no other attempt cures it. Otherwise what
 *   the function threw; TypeError or DlxConfigurationError for an answer that is no key
 */
export function keyOf({ handler }: PlannedHandler, payload: unknown, context: DlxContext): LaneKey {
  try {
    return keyIn(handler, payload, context);
  } catch (error) {
    throw breachBefore(handler, payload) ?? error;
  }
}

function keyIn(handler: Handler, payload: unknown, context: DlxContext): LaneKey {
  return textOfKey(settingOf(handler, orderedDecorator)?.key(payload, context), '@Ordered', handler.origin, 'no order');
}
