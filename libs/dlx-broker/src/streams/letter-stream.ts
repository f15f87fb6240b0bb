import type { Subscriber } from 'rxjs';
import type { HomeContext } from '../host/index.js';
import type { WaitQueues } from '../retry/index.js';
import type { Backend, BackendDelivery, CancelReason, Consumption } from '../backend/index.js';
import { DeadLetter, type LetterHost, type SettledLetter } from './dead-letter.js';
import { type CallbackTimeoutError, ConsumerCancelledError, TooManyLeftError } from './letter-errors.js';

/** A redrive, retry or parking that did not succeed; the letter was in hand again. */
export interface SettlementFailure {
  readonly letter: DeadLetter;
  readonly failure: unknown;
}

/** Who hears what becomes of letters. */
export interface Heard {
  failed(failure: SettlementFailure): void;
  settled(letter: DeadLetter, what: SettledLetter): void;
  unanswered(error: CallbackTimeoutError): void;
}

/** One consumer of a stream, and how many of its letters were left. */
interface StreamConsumer {
  consumption?: Consumption;
  left: number;
}

/**
 * A subscription. It begins with one consumer; whenever all letters of all its consumers are left, it takes one more, so
 * that those left behind do not hold up those to come.
 */
export class LetterStream<T> {
  readonly #hands: StreamConsumer[] = [];
  #left = 0;
  #closed = false;

  constructor(
    readonly backend: Backend,
    readonly rooms: WaitQueues,
    readonly queue: string,
    readonly prefetch: number,
    readonly leaveAtMost: number,
    readonly subscriber: Subscriber<DeadLetter<T>>,
    readonly heard: Heard,
    readonly home: HomeContext,
  ) {}

  open(): void {
    const hand: StreamConsumer = { left: 0 };
    this.#hands.push(hand);
    const onCancel = (_reason?: CancelReason, failure?: Error): void => this.home.fresh(this.#cancelled, this, failure);
    const take = (delivery: BackendDelivery): void => {
      // After the end there is no subscriber: later letters stay unsettled, and return with the consumer.
      this.subscriber.next(new DeadLetter<T>(delivery, this.#host(hand)));
    };
    hand.consumption = this.backend.consume(this.queue, { prefetch: this.prefetch, onCancel }, (delivery) =>
      this.home.fresh(take, undefined, delivery),
    );
    hand.consumption.started?.catch((failure: Error) => onCancel(undefined, failure));
    if (this.#closed) hand.consumption.close(); // it ended on its first letters, while consume was at work
  }

  close(): void {
    this.#closed = true;
    for (const hand of this.#hands) hand.consumption?.close();
  }

  #cancelled(failure: Error | undefined): void {
    this.subscriber.error(new ConsumerCancelledError(this.queue, failure));
  }

  #host(hand: StreamConsumer): LetterHost {
    return {
      rooms: this.rooms,
      clock: this.backend.clock,
      closed: () => this.#closed,
      left: () => this.#leave(hand),
      takenUp: () => {
        hand.left--;
        this.#left--;
      },
      failed: (letter, failure) => this.heard.failed({ letter, failure }),
      settled: (letter, what) => this.heard.settled(letter, what),
      unanswered: (error) => this.heard.unanswered(error),
    };
  }

  #leave(hand: StreamConsumer): void {
    hand.left++;
    this.#left++;
    if (this.#left > this.leaveAtMost) this.subscriber.error(new TooManyLeftError(this.queue, this.leaveAtMost));
    else if (this.#hands.every(({ left }) => left >= this.prefetch)) this.open();
  }
}
