import type { Breaker } from './breakers.js';
import type { RedriveCounts } from './counts.js';
import type { Batches, Pacing } from './pacing.js';

/**
 * The state of a redrive. `paused`: a user stopped it for a while. `waiting`: it stopped itself, because too many redriven messages came
 * back dead, or because its target takes nothing now. Both can continue; the last three states are final.
 */
export type RedriveState = 'running' | 'waiting' | 'paused' | 'done' | 'cancelled' | 'failed';

/** The clock of the broker: milliseconds since 1970. Each `tick` has at most one pending call; `undefined` withdraws it. */
interface RedriveClock {
  now(): number;
  wakeAt(time: number | undefined, tick: () => void): void;
}

/** The parts of a redrive: its clock, its rate, its breaker and its counts. */
interface RedriveRules {
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
  #idleSince = 0;
  #waitsUntil = 0;
  #isClosed = false;
  #waitsForTarget = false;

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
    const isPausable = this.#state === 'waiting' && (this.#waitsForTarget || this.rules.breaker?.pause !== undefined);
    if (this.#state !== 'running' && !isPausable) return false;
    this.#become('paused');
    return true;
  }

  /** Continues after a pause, or after the breaker stopped the redrive. @returns false in any other state */
  resume(): boolean {
    if (this.#state !== 'paused' && this.#state !== 'waiting') return false;
    const { clock, breaker, batches, pacing } = this.rules;
    const now = clock.now();
    this.#waitsForTarget = false;
    breaker?.close?.();
    pacing.leaveOut(this.#idleSince, now);
    batches?.restart(now);
    this.#become('running');
    return true;
  }

  /** Stops a running redrive because its target takes nothing now. {@link targetIsReady} ends that, unless its own breaker stopped it. */
  protected waitForTarget(reason: string): void {
    if (this.#state !== 'running') return;
    this.#waitsForTarget = true;
    this.#become('waiting', reason);
  }

  /** The target takes messages again. A redrive that an operator paused meanwhile stays paused. */
  protected targetIsReady(): void {
    if (!this.#waitsForTarget) return;
    this.#waitsForTarget = false;
    if (this.#state === 'waiting') this.resume();
  }

  /** Ends the redrive for good. @returns false when it had ended already */
  cancel(reason?: string): boolean {
    return this.end('cancelled', reason);
  }

  /** Ends the redrive for good, and the watch after its end. Idempotent. */
  close(reason?: string): void {
    this.#isClosed = true;
    this.cancel(reason);
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
  protected returned(count: number): void {
    const { breaker, clock } = this.rules;
    this.counts.returned += count;
    if (this.#state !== 'running' || breaker === undefined) return;
    const now = clock.now();
    breaker.returned(now, count);
    if (!breaker.isOpen(now)) return;
    this.#become('waiting', breaker.reason);
    if (breaker.pause === undefined) return;
    this.#waitsUntil = now + breaker.pause;
    clock.wakeAt(this.#waitsUntil, this.#continue);
  }

  /** @returns false when the redrive had ended already */
  protected end(state: 'done' | 'cancelled' | 'failed', reason?: string): boolean {
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
    if (this.#state === 'running') this.#idleSince = clock.now();
    this.#state = state;
    this.#reason = reason;
    this.changed();
  }

  /** A clock may call early when the pause is longer than its timers. */
  readonly #continue = (): void => {
    const { clock } = this.rules;
    if (clock.now() < this.#waitsUntil) clock.wakeAt(this.#waitsUntil, this.#continue);
    else this.resume();
  };

  /** Counts returned messages after the end as well, because the last redriven messages fail after it. */
  readonly #poll = (): void =>
    this.countReturned((count) => {
      if (this.#isClosed) return;
      this.returned(count);
      const { clock, pollInterval } = this.rules;
      const [now, until] = [clock.now(), this.#watchedUntil ?? 0];
      if (now < until) clock.wakeAt(Math.min(until, now + pollInterval), this.#poll);
    });
}
