import { type Attempted, park, parkingLotOf, redrive, retryIn, type WaitQueues } from '../retry/index.js';
import { deadSince, notedEntry } from '../../platform/history/index.js';
import type { Address, Message } from '../../engine/message/index.js';

import type { Backend, BackendDelivery, Done } from '../../backends/index.js';
import { DlxConfigurationError, parseDuration } from '../../platform/options/index.js';
import { type Move, type SafeTracing, timeOfMove } from '../tracing/index.js';
import { type Edit, editedLetter } from './edit.js';
import { queueOf, targetOf } from './given.js';
import { type CallbackTimeoutError, LetterSettledError } from './letter-errors.js';
import { Letter } from './letter.js';

/** How a letter was settled. */
export interface SettledLetter {
  readonly kind: 'acked' | 'rejected' | 'retried' | 'parked' | 'redriven';
  /** Of `retried`: milliseconds. */
  readonly delay?: number;
  /** Of `parked` the queue; of `redriven` the exchange and the routing key, or the queue. */
  readonly to?: string;
}

/** What all letters of a broker need, and what they report. */
export interface LetterHost {
  readonly backend: Backend;
  readonly waitQueues: WaitQueues;
  /** How many errors a letter keeps that is retried or parked. */
  readonly errorHistory: number;
  failed(letter: ConsumedLetter, failure: unknown): void;
  settled(letter: ConsumedLetter, what: SettledLetter): void;
  readonly tracing: SafeTracing | undefined;
  /** A function of the application did not answer in time. */
  unanswered(error: CallbackTimeoutError): void;
}

/** The consumer of a letter. */
export interface LetterConsumer {
  /** True once the stream has ended and returned its unsettled letters. */
  readonly isClosed: boolean;
  /** A letter was left. */
  leave(): void;
  /** A letter was settled. */
  finished(wasLeft: boolean): void;
}

/** Declares what a successor needs. @returns undefined when that exists already */
type Prepare = () => Promise<void> | undefined;

/**
 * A dead letter that a stream has consumed. Settle each one once: `ack`, `reject`, `requeue`, `redrive`, `retryIn` or `park`. A second
 * call has no effect on the broker and is a LetterSettledError, and so is a call after the end of the stream.
 *
 * `redrive`, `retryIn` and `park` publish a successor and resolve once the broker has confirmed it and the letter is
 * acked. When they fail, the promise rejects, and the letter is unsettled again. An ignored rejection does
 * not end the process: it is reported to `DeadLetters.failures`.
 */
export class ConsumedLetter<T = unknown> extends Letter<T> {
  readonly #delivery: BackendDelivery;
  readonly #host: LetterHost;
  readonly #consumer: LetterConsumer;
  #state: 'open' | 'pending' | 'settled' = 'open';
  #left = false;
  #isTraced = true;

  /** Made by {@link DeadLetters.from}. */
  constructor(delivery: BackendDelivery, host: LetterHost, consumer: LetterConsumer) {
    super(delivery.message, delivery.queue, delivery.recordsOrigins);
    this.#delivery = delivery;
    this.#host = host;
    this.#consumer = consumer;
  }

  get redelivered(): boolean {
    return this.#delivery.redelivered;
  }

  /** @internal The clock of its broker. */
  get clock(): Backend['clock'] {
    return this.#host.backend.clock;
  }

  /** @internal True once the stream has ended. */
  get isReturned(): boolean {
    return this.#consumer.isClosed;
  }

  /** @internal See {@link WaitQueues.atLeast}. @param delay milliseconds */
  waitFor(delay: number): number {
    return this.#host.waitQueues.atLeast(delay);
  }

  /** @internal A function of the application inside an operator did not answer in time. */
  unanswered(error: CallbackTimeoutError): void {
    this.#host.unanswered(error);
  }

  /** @internal A function of the application failed for this letter, which stays. */
  report(failure: unknown): void {
    this.#host.failed(this, failure);
  }

  /** @internal Its moves have no spans of their own: a redrive has one for all of its letters. */
  untraced(): void {
    this.#isTraced = false;
  }

  /** False once it was settled, while it is being settled, and after the stream returned it. */
  get open(): boolean {
    return this.#state === 'open' && !this.#consumer.isClosed && !this.#delivery.settled;
  }

  /** Acknowledges it: it leaves the queue for good. */
  ack(): void {
    this.#settle('ack', () => this.#delivery.ack());
  }

  /** Dead-letters it again if its queue has a dead-letter exchange; otherwise it is deleted. */
  reject(): void {
    this.#settle('reject', () => this.#delivery.reject());
  }

  /**
   * Returns it to its place in the queue. The broker delivers it again at once, often to the same stream. RabbitMQ does not count this
   * for the delivery limit since 4.3.
   */
  requeue(): void {
    this.#settle('requeue', () => this.#delivery.giveBack());
  }

  /**
   * Publishes it to its origin, with a new history. Every queue bound there gets it; to send it to one queue only, name the
   * queue: `redrive(letter.workQueue)`.
   * @param to a queue, or an exchange and a routing key
   * @param edit what is changed in it on its way. The promise rejects with an {@link EditRefusedError}, and the letter stays unsettled,
   *   for an edit that changes nothing, for a locked header, and for a payload that the content type does not allow
   */
  redrive(to?: Address | string, edit?: Edit): Promise<void> {
    const what = { kind: 'redriven', to: '' };
    let message: Message | undefined;
    const check = () => {
      message = edit && editedLetter(this.message, edit, this.clock.now());
      const target = targetOf(to, 'redrive') ?? this.origin;
      what.to = typeof target === 'string' ? `/${target}` : `${target.exchange}/${target.routingKey}`;
      return undefined;
    };
    return this.#replace('redrive', what as SettledLetter, check, (done) =>
      redrive(this.#delivery, this.clock.now(), to, done, message),
    );
  }

  /**
   * Sends it to its work queue after a delay, as one more attempt.
   * @param delay milliseconds, or a string such as `'30s'`; 0 is at once. Each distinct delay needs a wait queue of its own; when
   *   there are 64, the wait is rounded up, by at most 28 %
   */
  retryIn(delay: number | string): Promise<void> {
    const { waitQueues } = this.#host;
    const options = this.#attempted();
    const what = { kind: 'retried', delay: 0 };
    const wait = () => {
      const read = parseDuration(delay, 'retryIn');
      what.delay = read === 0 ? 0 : waitQueues.atLeast(read);
      return what.delay === 0 ? undefined : waitQueues.wait(what.delay);
    };
    const act = (done: Done): void => retryIn(this.#delivery, what.delay, waitQueues, options, done);
    return this.#replace('retryIn', what as SettledLetter, wait, act);
  }

  /**
   * Moves it to a parking lot, where it stays until it is consumed. The parking lot is declared if it does not exist.
   * @param queue default: the name of the work queue and `.parked`
   */
  park(queue: string = parkingLotOf(this.workQueue)): Promise<void> {
    const lot = () => {
      queueOf(queue, 'park');
      if (queue !== this.queue) return this.#host.waitQueues.lot(queue);
      throw new DlxConfigurationError(`park: the letter lies in '${queue}' already`);
    };
    const options = this.#attempted();
    const what = { kind: 'parked', to: queue } as const;
    const act = (done: Done): void => park(this.#delivery, queue, this.#host.waitQueues, options, done);
    return this.#replace('park', what, lot, act);
  }

  /**
   * Leaves it in its queue, unsettled, until the stream ends, and lets the stream go on: it no longer counts towards
   * the prefetch. It can still be settled. No effect on a letter that is settled.
   */
  leave(): void {
    if (this.#left || this.#state === 'settled' || this.#consumer.isClosed) return;
    this.#left = true;
    this.#consumer.leave();
  }

  /** Its last attempt, and its history with the error that its headers name. */
  #attempted(): Attempted {
    const { workQueue: queue, failures: attempt } = this;
    const at = deadSince(this.message) ?? this.clock.now();
    const headers = notedEntry(this.message, attempt, at, this.#host.errorHistory);
    return { queue, attempt, ...(headers !== undefined && { headers }) };
  }

  #settle(how: 'ack' | 'reject' | 'requeue', settle: () => void): void {
    this.#claim(how);
    this.#finish();
    settle();
    if (how !== 'requeue') this.#host.settled(this, { kind: how === 'ack' ? 'acked' : 'rejected' });
  }

  #claim(how: string): void {
    if (this.open) return;
    const why =
      this.#state !== 'open' ? 'it is settled already' : 'its stream ended, or lost it, and it went back to the queue';
    throw new LetterSettledError(`${how} of a dead letter of queue '${this.queue}' has no effect: ${why}`);
  }

  #finish(): void {
    this.#state = 'settled';
    this.#consumer.finished(this.#left);
    this.#left = false;
  }

  #replace(how: string, what: SettledLetter, prepare: Prepare | undefined, act: (done: Done) => void) {
    const tracing = this.#isTraced ? this.#host.tracing : undefined;
    const since = tracing === undefined ? 0 : timeOfMove();
    const replaced = this.#replaceNow(how, prepare, act);
    replaced.then(
      () => {
        this.#host.settled(this, what);
        tracing?.moved(this.#moveOf(what, since), undefined);
      },
      // With this handler a promise that is not awaited cannot end the process.
      (failure: unknown) => {
        this.#host.failed(this, failure);
        tracing?.moved({ ...this.#moveOf(what, since), failure: failure as Error }, undefined);
      },
    );
    return replaced;
  }

  #moveOf({ kind, to = this.workQueue, delay }: SettledLetter, since: number): Move {
    const { message, queue, failures } = this;
    const moved = kind === 'redriven' ? 'redrive' : kind === 'parked' ? 'park' : 'retry';
    const isDeadLetter = moved === 'park';
    return {
      kind: moved,
      message,
      queue,
      to,
      isDeadLetter,
      attempt: failures,
      since,
      ...(delay !== undefined && { delay }),
    };
  }

  /** Synchronous up to the publication when there is nothing to prepare. */
  async #replaceNow(how: string, prepare: Prepare | undefined, act: (done: Done) => void) {
    this.#claim(how);
    this.#state = 'pending';
    try {
      const preparing = prepare?.();
      if (preparing !== undefined) {
        await preparing;
        this.#stillOurs(how);
      }
      await new Promise<void>((resolve, reject) => {
        act((failure) => {
          if (failure !== undefined) return reject(failure);
          this.#finish();
          resolve();
        });
      });
    } catch (error) {
      this.#state = 'open';
      throw error;
    }
  }

  /** The stream may have ended while a queue was being declared. */
  #stillOurs(how: string): void {
    this.#state = 'open';
    this.#claim(how);
    this.#state = 'pending';
  }
}
