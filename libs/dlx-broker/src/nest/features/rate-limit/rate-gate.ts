import { type Clock, Deque } from '../../../engine/broker/index.js';
import { after, doNothing } from '../../../platform/index.js';
import type { Admission, AtGate, Gate } from '../../core/handler.js';
import type { Rate } from './decorator.js';

/** The longest time in milliseconds that a message waits in hand: servers take back what is unacknowledged for too long. */
export const longestInHand = 60_000;

/**
 * Lets at most `limit` messages begin in any time of the length `per`. A message that comes too early waits in hand for its turn. If its
 * turn is far, messages return to their queue, and the consumer ends until then.
 */
export class RateGate implements Gate {
  readonly asks = true;
  readonly wait = 0;
  /** When the latest messages began, in milliseconds since 1970, in order: as many as the limit, or more. */
  readonly #begun: number[] = [];
  readonly #waiting = new Deque<AtGate>();
  #isClosed = false;
  #isGiving = false;
  #cancel: (() => void) | undefined;

  /** @param changed called when the consumer of the queue has to end, to start, or to have another prefetch */
  constructor(
    private rate: Rate,
    private readonly clock: Clock,
    private readonly changed: () => void,
  ) {}

  get limit(): Rate {
    return this.rate;
  }

  set limit(rate: Rate) {
    this.rate = rate;
    if (this.#cancel !== doNothing) this.#turn(); // it is not closed
    this.changed();
  }

  get admission(): Admission {
    return this.#isClosed ? 'none' : 'all';
  }

  /** As many as begin while the last of them waits. */
  get most(): number {
    const { limit, per } = this.rate;
    return limit * Math.max(1, Math.floor(longestInHand / per));
  }

  /** The number of messages in hand that wait for their turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  admits(message: AtGate): boolean {
    const wait = this.#wait;
    if (wait === 0 && (this.#waiting.length === 0 || this.#isGiving)) {
      this.#note();
      return true;
    }
    this.#waiting.push(message);
    this.#cancel ??= after(this.clock, wait, () => this.#turn());
    if (this.#isClosed || wait > longestInHand) this.#close();
    return false;
  }

  /** A broker in this process would deliver at once what returns before the consumer has ended. */
  #close(): void {
    const isNew = !this.#isClosed;
    this.#isClosed = true;
    if (isNew) this.changed();
    queueMicrotask(() => this.#isClosed && this.returnAll());
  }

  /** Messages that wait return to their queue. */
  returnAll(): void {
    for (let left = this.#waiting.length; left > 0; left--) this.#waiting.shift()!.giveBack();
  }

  /** Nothing begins any more. */
  close(): void {
    this.#cancel?.();
    this.#cancel = doNothing;
  }

  readonly begin = doNothing;
  readonly succeeded = doNothing;
  readonly failed = (): undefined => undefined;
  readonly ended = doNothing;
  readonly closedSince = (): number => 0;

  /** Milliseconds until a message may begin. */
  get #wait(): number {
    const { limit, per } = this.rate;
    const first = this.#begun.at(-limit);
    return first === undefined ? 0 : Math.max(0, first + per - this.clock.now());
  }

  #note(): void {
    const { limit } = this.rate;
    this.#begun.push(this.clock.now());
    if (this.#begun.length >= 2 * limit) this.#begun.splice(0, this.#begun.length - limit);
  }

  /** It is the turn of the first that wait. */
  #turn(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    while (this.#wait === 0 && this.#waiting.length > 0) {
      this.#isGiving = true;
      try {
        this.#waiting.shift()!.run();
      } finally {
        this.#isGiving = false;
      }
    }
    const wait = this.#wait;
    if (this.#waiting.length > 0 || (this.#isClosed && wait > 0)) {
      this.#cancel = after(this.clock, wait, () => this.#turn());
      if (wait > longestInHand) this.#close();
    } else if (this.#isClosed) {
      this.#isClosed = false;
      this.changed();
    }
  }
}
