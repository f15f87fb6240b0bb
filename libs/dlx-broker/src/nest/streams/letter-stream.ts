import type { Subscriber } from 'rxjs';
import type { HomeContext } from '../../platform/index.js';
import type { BackendDelivery, CancelReason, Consumption } from '../../backends/index.js';
import { ConsumedLetter, type LetterConsumer, type LetterHost } from './consumed-letter.js';
import { ConsumerCancelledError, TooManyLeftError } from './letter-errors.js';

/** One consumer of a stream, and how many of its letters were left. */
interface StreamConsumer extends LetterConsumer {
  consumption?: Consumption;
  left: number;
}

/**
 * A subscription. It begins with one consumer. Whenever all unsettled letters of its consumers were left, it opens another
 * consumer, so that further letters arrive.
 */
export class LetterStream<T> {
  readonly #consumers: StreamConsumer[] = [];
  #unsettled = 0;
  #left = 0;
  #closed = false;

  constructor(
    readonly host: LetterHost,
    readonly home: HomeContext,
    readonly queue: string,
    readonly prefetch: number,
    readonly leaveAtMost: number,
    readonly subscriber: Subscriber<ConsumedLetter<T>>,
  ) {}

  /** Letters that are neither settled nor left. */
  get unsettled(): number {
    return this.#unsettled;
  }

  open(): void {
    const consumer = this.#newConsumer();
    this.#consumers.push(consumer);
    const onCancel = (_reason?: CancelReason, failure?: Error): void => this.home.fresh(this.#cancelled, this, failure);
    const take = (delivery: BackendDelivery): void => {
      // After the end there is no subscriber: later letters stay unsettled, and return to the queue when the consumer closes.
      this.#unsettled++;
      this.subscriber.next(new ConsumedLetter<T>(delivery, this.host, consumer));
    };
    consumer.consumption = this.host.backend.consume(this.queue, { prefetch: this.prefetch, onCancel }, (delivery) =>
      this.home.fresh(take, undefined, delivery),
    );
    consumer.consumption.started?.catch((failure: Error) => onCancel(undefined, failure));
    if (this.#closed) consumer.consumption.close(); // the stream ended on its first letters, while consume was running
  }

  close(): void {
    this.#closed = true;
    for (const consumer of this.#consumers) consumer.consumption?.close();
  }

  #cancelled(failure: Error | undefined): void {
    this.subscriber.error(new ConsumerCancelledError(this.queue, failure));
  }

  #newConsumer(): StreamConsumer {
    const isClosed = (): boolean => this.#closed;
    const consumer: StreamConsumer = {
      left: 0,
      get isClosed() {
        return isClosed();
      },
      leave: () => this.#leave(consumer),
      finished: (wasLeft) => {
        if (!wasLeft) return void this.#unsettled--;
        consumer.left--;
        this.#left--;
      },
    };
    return consumer;
  }

  #leave(consumer: StreamConsumer): void {
    consumer.left++;
    this.#left++;
    this.#unsettled--;
    if (this.#left > this.leaveAtMost) this.subscriber.error(new TooManyLeftError(this.queue, this.leaveAtMost));
    else if (this.#consumers.every(({ left }) => left >= this.prefetch)) this.open();
  }
}
