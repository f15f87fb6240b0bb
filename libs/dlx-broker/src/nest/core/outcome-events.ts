import { type Observable, share, Subject, Subscription, using } from 'rxjs';
import { deathIn, historyAfter } from '../../platform/history/index.js';
import { HomeContext } from '../../platform/index.js';
import { type Backend, type BackendDeath, type BackendDelivery } from '../../backends/index.js';
import type { Message, Properties } from '../../engine/message/index.js';
import { isWaitQueueName } from '../retry/index.js';
import { type ConsumedLetter, guarded, Letter, type SettledLetter, toXDeath } from '../streams/index.js';
import type { DeathHooks } from '../death-hooks/death-hooks.js';
import type { Settled } from './feature.js';
import type { Taken } from './handler.js';

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
  /** For `parked` and `rejected`: groups failures of the same cause, if there was an error. */
  readonly fingerprint?: string;
}

type Kind = OutcomeEvent['kind'];
type More = Pick<OutcomeEvent, 'handler' | 'attempt' | 'delay' | 'to' | 'key' | 'error' | 'fingerprint'>;
type OfHandler = Pick<OutcomeEvent, 'handler' | 'delay' | 'circuit' | 'reason'>;

/** What the event of an outcome has, besides what all events have. Other outcomes have no event. */
const ofOutcomes: Partial<Record<Settled['kind'], readonly (keyof Omit<More, 'key'>)[]>> = {
  acked: ['handler', 'attempt'],
  dropped: ['handler', 'error'],
  rejected: ['error', 'fingerprint'],
  retried: ['handler', 'attempt', 'error', 'delay'],
  parked: ['handler', 'attempt', 'error', 'to', 'fingerprint'],
  held: ['handler', 'attempt', 'error', 'delay'],
};

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

  /** The methods with `@OnDeadLetter`; undefined without any. */
  #hooks: DeathHooks | undefined;
  #ofHooks: (() => void) | undefined;

  /** @param thrown called with what a subscriber throws */
  constructor(
    private readonly backend: Pick<Backend, 'clock' | 'deaths' | 'recordsOrigins'>,
    thrown: (error: unknown) => void = () => undefined,
  ) {
    const watchDeaths = () => new Subscription(backend.deaths?.onDeath((death) => this.#ofDeath(death)));
    this.stream = guarded(using(watchDeaths, () => this.#subject).pipe(share()), thrown);
  }

  get observed(): boolean {
    return this.#subject.observed;
  }

  /** True if a subscriber or a method with `@OnDeadLetter` gets events of this kind. */
  isWanted(kind: Kind): boolean {
    return this.observed || this.#hooks?.handles(kind) === true;
  }

  /** Calls these methods from now on. */
  callHooks(hooks: DeathHooks): void {
    this.#hooks = hooks;
    if (!hooks.handles('expired')) return;
    this.#ofHooks = this.backend.deaths?.onDeath(({ queue, message, reason }) => {
      if (reason === 'expired' && !isWaitQueueName(queue)) this.#notifyHooks('expired', queue, message, {});
    });
  }

  emit(kind: Kind, { queue, message }: Pick<BackendDelivery, 'queue' | 'message'>, more: More = {}): void {
    if (this.observed) this.#next(kind, queue, message.properties, more);
    if (this.#hooks !== undefined && kind !== 'expired') this.#notifyHooks(kind, queue, message, more);
  }

  /** Emits the outcome of a message. */
  settled({ delivery, planned }: Taken, settled: Settled): void {
    const { kind, fingerprint } = settled;
    const has = ofOutcomes[kind];
    if (has === undefined || !this.isWanted(kind as Kind)) return;
    const all = { ...settled, handler: planned.handler.origin, fingerprint: fingerprint?.() };
    const more = Object.fromEntries(has.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])));
    this.emit(kind as Kind, delivery, more);
  }

  /** Emits the settlement of a dead letter of a stream. */
  ofLetter(letter: ConsumedLetter, { kind, ...more }: SettledLetter): void {
    if (kind === 'retried' || kind === 'parked' || kind === 'redriven') this.letters[kind]++;
    if (!this.isWanted(kind)) return;
    const { queue, message, failures: attempt, fingerprint } = letter;
    const all = { attempt, ...(kind !== 'acked' && fingerprint !== undefined && { fingerprint }), ...more };
    if (this.observed) this.#next(kind, queue, letter.properties, all);
    this.#notifyHooks(kind, queue, message, all, kind === 'rejected' || queue === letter.workQueue);
  }

  /** Emits an event of a handler. */
  ofHandler(kind: Kind, queue: string, more: OfHandler): void {
    if (this.observed) this.#next(kind, queue, {}, more);
  }

  end(): void {
    this.#ofHooks?.();
    this.#hooks?.close();
    this.#subject.complete();
  }

  /** Emits the death of a message that no handler had, because it expired or its queue was full. */
  #ofDeath({ queue, message, reason }: BackendDeath): void {
    if (reason === 'expired') this.emit('expired', { queue, message });
  }

  /** @param hasDied false for a dead letter that is only put aside: it died before */
  #notifyHooks(kind: Kind, queue: string, message: Message, more: More, hasDied = true): void {
    if (this.#hooks?.handles(kind) !== true) return;
    const { messageId } = message.own;
    const letter = new Letter(message, queue, this.backend.recordsOrigins === true);
    const at = this.backend.clock.now();
    const death = deathIn(queue, kind === 'expired' ? kind : 'rejected', message, at);
    const deaths = hasDied ? historyAfter(message, death).map(toXDeath) : letter.deaths;
    this.#hooks.notify({ kind, queue, at, ...(messageId !== undefined && { messageId }), ...more, deaths, letter });
  }

  #next(kind: Kind, queue: string, { messageId }: Properties, more: More & OfHandler): void {
    const at = this.backend.clock.now();
    const event = { kind, queue, at, ...(messageId !== undefined && { messageId }), ...more };
    this.#home.fresh(this.#subject.next, this.#subject, event);
  }
}
