import { type Observable, Subject } from 'rxjs';
import type { BackendDeath, BackendDelivery } from '../backend/index.js';
import type { DeadLetter, SettledLetter } from '../streams/index.js';

/** What became of a message, as a handler's broker tells it while somebody listens. */
export interface OutcomeEvent {
  readonly kind: 'delivered' | 'acked' | 'rejected' | 'retried' | 'parked' | 'dropped' | 'redriven' | 'expired';
  readonly queue: string;
  /** Milliseconds since 1970, by the broker's clock. */
  readonly at: number;
  /** Class and method, where a handler had it. */
  readonly handler?: string;
  readonly messageId?: string;
  /** The attempt this is about: 1 is the first. */
  readonly attempt?: number;
  /** Of `retried`: milliseconds to wait. */
  readonly delay?: number;
  /** Where it went: the parking lot, or the exchange and routing key of a redrive. */
  readonly to?: string;
  /** What the handler threw. */
  readonly error?: unknown;
}

type Kind = OutcomeEvent['kind'];
type More = Pick<OutcomeEvent, 'handler' | 'attempt' | 'delay' | 'to' | 'error'>;

/** Costs a comparison while nobody listens. */
export class OutcomeEvents {
  readonly #subject = new Subject<OutcomeEvent>();

  constructor(private readonly now: () => number) {}

  get stream(): Observable<OutcomeEvent> {
    return this.#subject.asObservable();
  }

  get observed(): boolean {
    return this.#subject.observed;
  }

  tell(kind: Kind, { queue, message }: Pick<BackendDelivery, 'queue' | 'message'>, more: More = {}): void {
    if (!this.#subject.observed) return;
    const { messageId } = message.properties;
    this.#subject.next({ kind, queue, at: this.now(), ...(messageId !== undefined && { messageId }), ...more });
  }

  /** What somebody did with a dead letter of a stream. */
  ofLetter(letter: DeadLetter, what: SettledLetter): void {
    if (!this.#subject.observed) return;
    const { queue, properties, failures } = letter;
    const { kind, delay, to } = what;
    const { messageId } = properties;
    const more = {
      ...(messageId !== undefined && { messageId }),
      ...(delay !== undefined && { delay }),
      ...(to && { to }),
    };
    this.#subject.next({ kind, queue, at: this.now(), attempt: failures, ...more });
  }

  /** What dies because its time is up, or its queue is full, nobody has in hand: the backend tells. */
  ofDeath({ queue, message, reason }: BackendDeath): void {
    if (reason === 'expired') this.tell('expired', { queue, message });
  }

  end(): void {
    this.#subject.complete();
  }
}
