import { Observable, Subject } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { WaitRooms } from '../backend/index.js';
import type { Backend, Consumption } from '../backend/index.js';
import { DlxConfigurationError } from '../topology/index.js';
import { DeadLetter } from './dead-letter.js';
import type { LetterHost } from './dead-letter.js';
import { ConsumerCancelledError, TooManyLeftError } from './letter-errors.js';

export interface DeadLettersOptions {
  /** The wait queues of this broker, shared with others who retry. Default: ones of its own, classic. */
  readonly rooms?: WaitRooms;
}

export interface FromOptions {
  /** Letters in hand at most, those left behind not counted: 1 to 65535. Default 10. */
  readonly prefetch?: number;
  /**
   * Letters that may be left in the queue, unsettled, before the stream fails with a TooManyLeftError. Default: 32 times
   * the prefetch, which costs up to 32 consumers.
   */
  readonly leaveAtMost?: number;
}

/** A redrive, retry or parking that did not succeed; the letter was in hand again. */
export interface SettlementFailure {
  readonly letter: DeadLetter;
  readonly failure: unknown;
}

/** The dead letters of a broker, as streams. */
export class DeadLetters {
  readonly #backend: Backend;
  readonly #rooms: WaitRooms;
  readonly #failures = new Subject<SettlementFailure>();

  /** Every settlement that failed, also those whose promise nobody looked at. */
  readonly failures: Observable<SettlementFailure> = this.#failures.asObservable();

  constructor(backend: Backend, options: DeadLettersOptions = {}) {
    this.#backend = backend;
    this.#rooms = options.rooms ?? new WaitRooms(backend);
  }

  /**
   * The letters of a queue. Cold: each subscription is a consumer of its own, from subscribe to unsubscribe, and at the
   * end everything unsettled goes back to its place in the queue; so does everything when the pipeline fails. Nothing is
   * buffered: the broker holds what goes beyond the prefetch, so a stream whose letters are not settled comes to a halt.
   *
   * Drop letters with `where` or `whereReason`, not with `filter`, which would leave them in hand. And let operators that
   * end a stream (`take`, `takeUntil`) come after the work: what is unsettled when they strike goes back.
   *
   * It fails with a ConsumerCancelledError when the queue is deleted. It never completes by itself.
   * @throws DlxConfigurationError for an impossible option
   */
  from<T = unknown>(queue: string, options: FromOptions = {}): Observable<DeadLetter<T>> {
    const prefetch = whole('prefetch', options.prefetch ?? 10, 1, 65_535);
    const leaveAtMost = whole('leaveAtMost', options.leaveAtMost ?? 32 * prefetch, 0, Number.MAX_SAFE_INTEGER);
    return new Observable((subscriber) => {
      const report = (failure: SettlementFailure): void => this.#failures.next(failure);
      const stream = new LetterStream<T>(this.#backend, this.#rooms, queue, prefetch, leaveAtMost, subscriber, report);
      subscriber.add(() => stream.close());
      stream.open();
    });
  }
}

/** One consumer of a stream, and how many of its letters were left. */
interface Hand {
  consumption?: Consumption;
  left: number;
}

/**
 * A subscription. It begins with one consumer; whenever all letters of all its consumers are left, it takes one more, so
 * that those left behind do not hold up those to come.
 */
class LetterStream<T> {
  readonly #hands: Hand[] = [];
  #left = 0;
  #closed = false;

  constructor(
    readonly backend: Backend,
    readonly rooms: WaitRooms,
    readonly queue: string,
    readonly prefetch: number,
    readonly leaveAtMost: number,
    readonly subscriber: Subscriber<DeadLetter<T>>,
    readonly report: (failure: SettlementFailure) => void,
  ) {}

  open(): void {
    const hand: Hand = { left: 0 };
    this.#hands.push(hand);
    const onCancel = (): void => this.subscriber.error(new ConsumerCancelledError(this.queue));
    hand.consumption = this.backend.consume(this.queue, { prefetch: this.prefetch, onCancel }, (delivery) => {
      // After the end this reaches nobody: what comes then stays unsettled, and goes back with the consumer.
      this.subscriber.next(new DeadLetter<T>(delivery, this.#host(hand)));
    });
    if (this.#closed) hand.consumption.close(); // it ended on its first letters, while consume was at work
  }

  close(): void {
    this.#closed = true;
    for (const hand of this.#hands) hand.consumption?.close();
  }

  #host(hand: Hand): LetterHost {
    return {
      rooms: this.rooms,
      closed: () => this.#closed,
      left: () => this.#leave(hand),
      takenUp: () => {
        hand.left--;
        this.#left--;
      },
      failed: (letter, failure) => this.report({ letter, failure }),
    };
  }

  #leave(hand: Hand): void {
    hand.left++;
    this.#left++;
    if (this.#left > this.leaveAtMost) this.subscriber.error(new TooManyLeftError(this.queue, this.leaveAtMost));
    else if (this.#hands.every(({ left }) => left >= this.prefetch)) this.open();
  }
}

function whole(option: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new DlxConfigurationError(`DeadLetters.from: ${option} is ${String(value)}; write ${least} to ${most}`);
}
