import type { Clock } from '../../../engine/broker/index.js';
import { after, callEach } from '../../../platform/index.js';
import type { AtGate, Hold } from '../../core/handler.js';
import { Drop, Park, Reject, RetryLater, Unavailable } from '../../core/outcomes.js';
import type { RetryPlan } from '../../retry/index.js';
import { type ResolvedCircuit, roundedPause } from './options.js';
import { Outages } from './window.js';
import { Window } from './window.js';

/** `open`: no messages are delivered. `probing`: one message at a time. */
export type CircuitState = 'closed' | 'open' | 'probing';

/** A change of a circuit. */
export interface CircuitChange {
  readonly kind: 'opened' | 'probing' | 'closed';
  /** True if the circuit was open before, and a probe failed. */
  readonly isAgain: boolean;
}

/** What a circuit needs from its broker. */
export interface CircuitParts {
  readonly clock: Clock;
  /** Random numbers for pauses with jitter: 0 up to but not including 1. */
  readonly random: () => number;
  /** True for errors that no other attempt cures, for handlers without a retry policy. */
  readonly isUnretryable: (error: unknown) => boolean;
  /** Asks the probe of the options. It never rejects. Undefined without one. */
  readonly ask: (() => Promise<boolean>) | undefined;
  /** Called after each change. */
  readonly changed: (circuit: Circuit, change: CircuitChange) => void;
  /** Called with what the function `on` threw. */
  readonly fault: (circuit: Circuit, error: unknown) => void;
  /** Called with what a message in hand threw. The others in hand go on. */
  readonly broken: (circuit: Circuit, error: unknown) => void;
  /** The text of an error, for the reason. */
  readonly textOf: (error: unknown) => string;
}

/** How a handler failed, for its circuit. */
export interface CircuitFailure {
  readonly error: unknown;
  /** The policy of the handler. */
  readonly retry: RetryPlan | undefined;
  /** The epoch of the circuit when the handler got the message. */
  readonly epoch: number;
  /** How often the message was held while the circuit was closed. */
  readonly holds: number;
}

/** A message that waits in hand until the probe under way has ended. */
export type Waiting = Omit<AtGate, 'giveBack'>;

/**
 * Decides whether the handlers that depend on one service get messages. Its state is that of this process, and starts closed. Times
 * are those of the backend's clock.
 */
export class Circuit {
  #state: CircuitState = 'closed';
  #epoch = 1;
  #since: number;
  #reason: string | undefined;
  #nextProbe: number | undefined;
  /** How often it opened since it was closed. */
  #openings = 0;
  #pause = 0;
  #successes = 0;
  /** True while a message is tried. */
  #isTrying = false;
  #isAsking = false;
  /** True from the end of the application on: handlers in hand may fail then, and nothing is tried any more. */
  #hasEnded = false;
  #cancelTimer: (() => void) | undefined;
  readonly #inHand: Waiting[] = [];
  readonly #window: Window;
  readonly #outages = new Outages();

  constructor(
    readonly name: string,
    readonly options: ResolvedCircuit,
    private readonly parts: CircuitParts,
  ) {
    this.#since = parts.clock.now();
    this.#window = new Window(options.within);
  }

  get state(): CircuitState {
    return this.#state;
  }

  /** Since when it is in its state, in milliseconds since 1970. */
  get since(): number {
    return this.#since;
  }

  /** The error that opened it. Undefined while it is closed. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** When an open circuit tries again, in milliseconds since 1970. */
  get nextProbe(): number | undefined {
    return this.#nextProbe;
  }

  /** Changes with each change of the state. A handler that began in another epoch says nothing about the present state. */
  get epoch(): number {
    return this.#epoch;
  }

  /** The wait of messages that come while the circuit is not closed. */
  get pause(): number {
    return this.#pause;
  }

  /** The milliseconds since a time for which the circuit was not closed. */
  outageSince(time: number): number {
    return this.#outages.since(time, this.parts.clock.now());
  }

  /**
   * Lets a message through, keeps it in hand while another one is tried, or holds it while the circuit is open.
   * @returns true if the message goes to its handler now
   */
  admits(message: Waiting): boolean {
    if (this.#state === 'closed') return true;
    if (this.#state === 'open') message.hold();
    else if (!this.#isTrying) return true;
    else this.#inHand.push(message);
    return false;
  }

  /** A handler gets a message. @returns the epoch, for {@link succeeded}, {@link failed} and {@link ended} */
  begin(): number {
    if (this.#state === 'probing') this.#isTrying = true;
    return this.#epoch;
  }

  succeeded(epoch: number): void {
    if (this.#state === 'closed') return this.#window.add(this.parts.clock.now(), false);
    if (this.#state !== 'probing' || epoch !== this.#epoch) return;
    if (++this.#successes >= this.options.probes) this.#close();
  }

  /** @returns how to hold the message; undefined if its error is an ordinary failure */
  failed(failure: CircuitFailure): Hold | undefined {
    const kind = this.#kindOf(failure);
    if (kind === 'neutral') return undefined;
    const { error, epoch, holds } = failure;
    const wait = error instanceof Unavailable ? error.wait : undefined;
    if (this.#state !== 'closed') {
      if (this.#state === 'probing' && epoch === this.#epoch) this.#open(error, wait);
      return { wait: this.#pause, isCounted: false };
    }
    if (kind === 'dependency' && holds >= this.options.holds) return undefined;
    const isOver = this.#isOver(error, epoch);
    if (isOver) this.#open(error, wait);
    if (kind === 'suspect' && !isOver) return undefined;
    return {
      wait: isOver ? this.#pause : this.#rounded(this.options.pauses.before(1, error, this.parts.random)),
      isCounted: true,
    };
  }

  /** The handler that began in this epoch has ended, however. */
  ended(epoch: number): void {
    if (epoch !== this.#epoch || this.#state !== 'probing') return;
    this.#isTrying = false;
    // One that is not handled (its queue is gone, or no handler can read it) is followed by the next one.
    while (this.#state === 'probing' && !this.#isTrying && this.#inHand.length > 0) {
      this.#each('run', [this.#inHand.shift() as Waiting]);
    }
  }

  /** Tries a message now, if the circuit is open. */
  tryNow(): void {
    if (this.#state === 'open') this.#due();
  }

  /** The application shuts down. What is in hand stays unsettled, and returns to its queue. */
  close(): void {
    this.#hasEnded = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#each('leave');
  }

  /** Whether an outcome opens a closed circuit. */
  #isOver(error: unknown, epoch: number): boolean {
    if (error instanceof Unavailable) return epoch === this.#epoch;
    const now = this.parts.clock.now();
    this.#window.add(now, true);
    return this.#window.isOver(now, this.options.atLeast, this.options.share);
  }

  /** `dependency`: the message is never to blame. `suspect`: counts, and the message may be to blame. */
  #kindOf({ error, retry }: CircuitFailure): 'dependency' | 'suspect' | 'neutral' {
    if (error instanceof Unavailable) return 'dependency';
    if (error instanceof Park || error instanceof Reject || error instanceof Drop) return 'neutral';
    try {
      const { on } = this.options;
      if (on !== undefined) return on(error) ? 'dependency' : 'neutral';
      if (error instanceof RetryLater) return 'neutral';
      const isRetried = retry === undefined ? !this.parts.isUnretryable(error) : retry.retries(error);
      return isRetried ? 'suspect' : 'neutral';
    } catch (fault) {
      this.parts.fault(this, fault);
      return 'neutral';
    }
  }

  #open(error: unknown, wait?: number): void {
    const now = this.parts.clock.now();
    this.#outages.begin(now);
    this.#openings++;
    this.#pause = this.#rounded(wait ?? this.options.pauses.before(this.#openings, error, this.parts.random));
    this.#reason = this.parts.textOf(error);
    this.#enter('open', now);
    this.#sleep(now);
    // First the consumers end: to each that still has room for messages, a broker in this process would give its whole queue, one by one.
    this.#report('opened', this.#openings > 1);
    this.#each('hold');
  }

  #sleep(now: number): void {
    this.#cancelTimer?.();
    if (this.#hasEnded) return;
    this.#nextProbe = now + this.#pause;
    this.#cancelTimer = after(this.parts.clock, this.#pause, () => this.#due());
  }

  /** The pause is over. */
  #due(): void {
    if (this.#state !== 'open' || this.#isAsking || this.#hasEnded) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const { ask } = this.parts;
    if (ask === undefined) return this.#probe();
    const epoch = this.#epoch;
    this.#isAsking = true;
    void ask().then((isUp) => {
      this.#isAsking = false;
      if (epoch !== this.#epoch || this.#hasEnded) return;
      if (isUp) return this.#probe();
      this.#openings++;
      this.#pause = this.#rounded(this.options.pauses.before(this.#openings, undefined, this.parts.random));
      this.#sleep(this.parts.clock.now());
    });
  }

  #probe(): void {
    this.#successes = 0;
    this.#enter('probing', this.parts.clock.now());
    this.#nextProbe = undefined;
    this.#report('probing');
  }

  #close(): void {
    const now = this.parts.clock.now();
    this.#outages.end(now);
    this.#window.clear();
    this.#openings = 0;
    this.#reason = undefined;
    this.#enter('closed', now);
    this.#report('closed');
    this.#each('run');
  }

  #each(what: keyof Waiting, messages: readonly Waiting[] = this.#inHand.splice(0)): void {
    callEach(
      messages,
      (message) => message[what]?.(),
      (error) => this.parts.broken(this, error),
    );
  }

  #enter(state: CircuitState, now: number): void {
    this.#state = state;
    this.#epoch++;
    this.#since = now;
    this.#isTrying = false;
  }

  #report(kind: CircuitChange['kind'], isAgain = false): void {
    this.parts.changed(this, { kind, isAgain });
  }

  #rounded(pause: number): number {
    return roundedPause(pause, this.options);
  }
}
