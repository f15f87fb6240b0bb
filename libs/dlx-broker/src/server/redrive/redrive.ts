import type { Batches } from './batches.js';
import type { RedriveCounts } from './redrive-counts.js';

/** Messages a second of a redrive, unless its request names another rate. */
export const defaultRate = 50;

/** A rate limiter: each message is due one gap after the message before. */
export class Pacing {
  /** Milliseconds between two messages; 0 without a limit. */
  readonly #gap: number;
  /** The time without messages, in milliseconds, whose messages may follow together (the burst of the limiter). */
  readonly #kept: number;
  /** When the next message is due. */
  #due: number;

  /**
   * @param rate messages a second; Infinity is no limit
   * @param now when the first message is due
   * @param kept the burst: after a delay of the host, messages of this time (milliseconds) may follow together
   */
  constructor(
    readonly rate: number,
    now = 0,
    kept = 0,
  ) {
    this.#gap = 1000 / rate;
    this.#kept = Math.max(0, kept - this.#gap);
    this.#due = now;
  }

  /** Messages that may go now. Call {@link spend} with the number that went. */
  allowed(now: number): number {
    if (this.#gap === 0) return Infinity;
    this.#due = Math.max(this.#due, now - this.#kept);
    return Math.max(0, Math.floor((now - this.#due) / this.#gap + 1 + 1e-9));
  }

  spend(count: number): void {
    this.#due += count * this.#gap;
  }

  /** Spends one message. @returns when it may go: at once if that time is not in the future */
  take(now: number): number {
    const due = Math.max(this.#due, now - this.#kept);
    this.#due = due + this.#gap;
    return due;
  }

  /** When the next message is due, as whole milliseconds. */
  get next(): number {
    return Math.ceil(this.#due - 1e-6);
  }

  /** Leaves a pause out of the schedule: the time that was left until the next message is left again after the pause. */
  rested(since: number, now: number): void {
    this.#due = now + Math.max(0, this.#due - since);
  }
}

/**
 * The state of a redrive. `tripped`: its breaker stopped it, because too many redriven messages came back dead. Paused and
 * tripped redrives can continue; the last three states are final.
 */
export type RedriveState = 'running' | 'paused' | 'tripped' | 'completed' | 'stopped' | 'failed';

/** The clock of the broker: milliseconds since 1970. Each `tick` has at most one pending call; `undefined` withdraws it. */
export interface RedriveClock {
  now(): number;
  wakeAt(time: number | undefined, tick: () => void): void;
}

/** Decides from what comes back dead whether a redrive may continue. */
export interface Breaker {
  /** The reason that an operator reads when the breaker opens. */
  readonly reason?: string;
  /** Milliseconds after which a stopped redrive continues by itself; undefined: an operator has to resume it. */
  readonly pause?: number;
  redriven(now: number): void;
  cameBack(now: number, count: number): void;
  /** True when too many messages came back. */
  isOpen(now: number): boolean;
  /** Forgets what opened the breaker, so that a stopped redrive can continue. */
  close?(): void;
}

/** The parts of a redrive: its clock, its rate, its breaker and its counts. */
export interface RedriveRules {
  readonly clock: RedriveClock;
  readonly pacing: Pacing;
  readonly counts: RedriveCounts;
  readonly breaker?: Breaker | undefined;
  readonly batches?: Batches | undefined;
  /** How often the redrive counts returned messages after its end, in milliseconds. */
  readonly pollInterval: number;
}

/** How long a redrive with a breaker counts, after its end, the messages that come back: milliseconds. */
const watchedFor = 60_000;

/**
 * One redrive, without the part that moves messages: its state, its rate, its breaker, its counts, and the watch after its end. A
 * subclass is a mover: it takes messages from their queue, asks how many may go, and reports the outcome of each.
 */
export abstract class Redrive {
  readonly startedAt: number;
  readonly counts: RedriveCounts;
  #state: RedriveState = 'running';
  #reason: string | undefined;
  #endedAt: number | undefined;
  #watchedUntil: number | undefined;
  #restsSince = 0;
  #trippedUntil = 0;
  #isClosed = false;
  #isHeldUp = false;

  protected constructor(protected readonly rules: RedriveRules) {
    this.startedAt = rules.clock.now();
    this.counts = rules.counts;
  }

  /** Called after a change of the state: the mover begins to move messages, or stops. */
  protected abstract changed(): void;

  /** Counts the messages that came back dead since the last call. @param seen is called once, with the number */
  protected abstract countReturned(seen: (count: number) => void): void;

  /** True if the redrive counts, after its end, the messages that come back. */
  protected get isWatched(): boolean {
    return this.rules.breaker !== undefined;
  }

  get state(): RedriveState {
    return this.#state;
  }

  /** Why the redrive is not running; undefined where the state says enough. */
  get reason(): string | undefined {
    return this.#reason;
  }

  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  get isOver(): boolean {
    return this.#endedAt !== undefined;
  }

  /**
   * Until when the redrive counts messages that come back: a minute after its end, in milliseconds since 1970. Undefined before
   * its end, and without a breaker.
   */
  get watchedUntil(): number | undefined {
    return this.#watchedUntil;
  }

  /** @returns false when the redrive is not running; a redrive that would continue by itself can be paused, too */
  pause(): boolean {
    const isPausable = this.#state === 'tripped' && (this.#isHeldUp || this.rules.breaker?.pause !== undefined);
    if (this.#state !== 'running' && !isPausable) return false;
    this.#become('paused');
    return true;
  }

  /** Continues after a pause, or after the breaker stopped the redrive. @returns false in any other state */
  resume(): boolean {
    if (this.#state !== 'paused' && this.#state !== 'tripped') return false;
    const { clock, breaker, batches, pacing } = this.rules;
    const now = clock.now();
    this.#isHeldUp = false;
    breaker?.close?.();
    pacing.rested(this.#restsSince, now);
    batches?.restart(now);
    this.#become('running');
    return true;
  }

  /** Stops a running redrive because its target takes nothing now. {@link goOn} ends that, unless its own breaker stopped it. */
  protected holdUp(reason: string): void {
    if (this.#state !== 'running') return;
    this.#isHeldUp = true;
    this.#become('tripped', reason);
  }

  /** The target takes messages again. A redrive that an operator paused meanwhile stays paused. */
  protected goOn(): void {
    if (!this.#isHeldUp) return;
    this.#isHeldUp = false;
    if (this.#state === 'tripped') this.resume();
  }

  /** Ends the redrive for good. @returns false when it had ended already */
  stop(reason?: string): boolean {
    return this.end('stopped', reason);
  }

  /** Ends the redrive for good, and the watch after its end. Idempotent. */
  close(reason?: string): void {
    this.#isClosed = true;
    this.stop(reason);
    const { clock } = this.rules;
    if (this.#watchedUntil !== undefined) this.#watchedUntil = Math.min(this.#watchedUntil, clock.now());
    clock.wakeAt(undefined, this.#poll);
  }

  /** Messages that may go now: by the rate, and by the batch. */
  protected allowed(now: number): number {
    const { pacing, batches } = this.rules;
    return Math.min(pacing.allowed(now), batches?.allowed(now) ?? Infinity);
  }

  /** A message was redriven. @returns true when this message ended a batch */
  protected redriven(now: number): boolean {
    this.rules.breaker?.redriven(now);
    return this.rules.batches?.spend(1, now) ?? false;
  }

  /**
   * Adds the messages that came back dead since the last call, and stops a running redrive when its breaker opens.
   */
  protected cameBack(count: number): void {
    const { breaker, clock } = this.rules;
    this.counts.cameBack += count;
    if (this.#state !== 'running' || breaker === undefined) return;
    const now = clock.now();
    breaker.cameBack(now, count);
    if (!breaker.isOpen(now)) return;
    this.#become('tripped', breaker.reason);
    if (breaker.pause === undefined) return;
    this.#trippedUntil = now + breaker.pause;
    clock.wakeAt(this.#trippedUntil, this.#continue);
  }

  /** @returns false when the redrive had ended already */
  protected end(state: 'completed' | 'stopped' | 'failed', reason?: string): boolean {
    if (this.isOver) return false;
    const { clock, pollInterval } = this.rules;
    this.#endedAt = clock.now();
    if (this.isWatched && !this.#isClosed) {
      this.#watchedUntil = this.#endedAt + watchedFor;
      clock.wakeAt(this.#endedAt + pollInterval, this.#poll);
    }
    this.#become(state, reason);
    return true;
  }

  #become(state: RedriveState, reason?: string): void {
    const { clock } = this.rules;
    clock.wakeAt(undefined, this.#continue);
    if (this.#state === 'running') this.#restsSince = clock.now();
    this.#state = state;
    this.#reason = reason;
    this.changed();
  }

  /** A clock may call early when the pause is longer than its timers. */
  readonly #continue = (): void => {
    const { clock } = this.rules;
    if (clock.now() < this.#trippedUntil) clock.wakeAt(this.#trippedUntil, this.#continue);
    else this.resume();
  };

  /** Counts returned messages after the end as well, because the last redriven messages fail after it. */
  readonly #poll = (): void =>
    this.countReturned((count) => {
      if (this.#isClosed) return;
      this.cameBack(count);
      const { clock, pollInterval } = this.rules;
      const [now, until] = [clock.now(), this.#watchedUntil ?? 0];
      if (now < until) clock.wakeAt(Math.min(until, now + pollInterval), this.#poll);
    });
}
