import { type Observable, share, Subject, Subscription, using } from 'rxjs';
import { HomeContext } from '../host/index.js';
import { type Backend, type BackendDeath, type BackendDelivery } from '../backend/index.js';
import type { Properties } from '../message/index.js';
import type { ConsumedLetter, SettledLetter } from '../streams/index.js';

/**
 * An event of `DlxBroker.events`: what happened to a message, or to a handler. Events of a handler are `opened`, `probing` and `closed`
 * of its circuit, and `paused` and `resumed`.
 */
export interface OutcomeEvent {
  readonly kind:
    | 'delivered'
    | 'acked'
    | 'rejected'
    | 'retried'
    | 'parked'
    | 'held'
    | 'dropped'
    | 'redriven'
    | 'expired'
    | 'opened'
    | 'probing'
    | 'closed'
    | 'paused'
    | 'resumed'
    | 'stalled'
    | 'recovered';
  readonly queue: string;
  /** Milliseconds since 1970, by the broker's clock. */
  readonly at: number;
  /** Class and method of the handler, if the message had one. */
  readonly handler?: string;
  readonly messageId?: string;
  /** The number of the attempt: 1 is the first. */
  readonly attempt?: number;
  /** For `retried` and `held`: the delay in milliseconds. For `opened`: until the circuit tries a message. */
  readonly delay?: number;
  /** The new place of the message: the parking lot, or the exchange and routing key of a redrive. */
  readonly to?: string;
  /** For `stalled` and `recovered` (`@Ordered`): the key with the most messages in hand; absent for messages without a key. */
  readonly key?: string;
  /** The error of the handler. */
  readonly error?: unknown;
  /** For `opened`, `probing` and `closed`: the name of the circuit. */
  readonly circuit?: string;
  /** For `opened`: the error that opened the circuit. For `paused`: the reason of the caller. */
  readonly reason?: string;
}

type Kind = OutcomeEvent['kind'];
type More = Pick<OutcomeEvent, 'handler' | 'attempt' | 'delay' | 'to' | 'key' | 'error'>;
type OfHandler = Pick<OutcomeEvent, 'handler' | 'delay' | 'circuit' | 'reason'>;

/** Counts of the letters of streams since the start. */
export interface LetterCounts {
  retried: number;
  parked: number;
  redriven: number;
  /** Functions inside operators whose promises did not settle in time; each failed its stream. */
  unanswered: number;
}

/** The events of `DlxBroker.events`. Without a subscriber an event costs one comparison. */
export class OutcomeEvents {
  readonly letters: LetterCounts = { retried: 0, parked: 0, redriven: 0, unanswered: 0 };
  readonly #subject = new Subject<OutcomeEvent>();
  readonly #home = new HomeContext();

  /** Hot: later subscribers get no earlier events. The backend reports deaths only while there is a subscriber. */
  readonly stream: Observable<OutcomeEvent>;

  constructor(private readonly backend: Pick<Backend, 'clock' | 'deaths'>) {
    const watchDeaths = () => new Subscription(backend.deaths?.onDeath((death) => this.#ofDeath(death)));
    this.stream = using(watchDeaths, () => this.#subject).pipe(share());
  }

  get observed(): boolean {
    return this.#subject.observed;
  }

  tell(kind: Kind, { queue, message }: Pick<BackendDelivery, 'queue' | 'message'>, more: More = {}): void {
    if (this.observed) this.#next(kind, queue, message.properties, more);
  }

  /** Emits the settlement of a dead letter of a stream. */
  ofLetter(letter: ConsumedLetter, { kind, ...more }: SettledLetter): void {
    if (kind === 'retried' || kind === 'parked' || kind === 'redriven') this.letters[kind]++;
    if (this.observed) this.#next(kind, letter.queue, letter.properties, { attempt: letter.failures, ...more });
  }

  /** Emits an event of a handler. */
  ofHandler(kind: Kind, queue: string, more: OfHandler): void {
    if (this.observed) this.#next(kind, queue, {}, more);
  }

  end(): void {
    this.#subject.complete();
  }

  /** Emits the death of a message that no handler had, because it expired or its queue was full. */
  #ofDeath({ queue, message, reason }: BackendDeath): void {
    if (reason === 'expired') this.tell('expired', { queue, message });
  }

  #next(kind: Kind, queue: string, { messageId }: Properties, more: More & OfHandler): void {
    const at = this.backend.clock.now();
    const event = { kind, queue, at, ...(messageId !== undefined && { messageId }), ...more };
    this.#home.fresh(this.#subject.next, this.#subject, event);
  }
}
