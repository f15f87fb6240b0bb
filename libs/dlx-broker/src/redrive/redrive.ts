import type { Batches } from './batches.js';
import type { Pacing } from './pacing.js';
import type { RedriveCounts } from './redrive-counts.js';

/**
 * `tripped`: it stopped itself, because too much of what it redrove came back dead. Paused and tripped redrives can
 * continue; the last three are over.
 */
export type RedriveState = 'running' | 'paused' | 'tripped' | 'completed' | 'stopped' | 'failed';

/** The time of the broker: milliseconds since 1970, and one request for a call for each `tick`; undefined withdraws it. */
export interface RedriveClock {
  now(): number;
  wakeAt(time: number | undefined, tick: () => void): void;
}

/** Decides from what comes back dead whether a redrive may continue. */
export interface Circuit {
  /** What an operator reads when it opens. */
  readonly reason?: string;
  /** Milliseconds after which a redrive that it stopped continues by itself; undefined: an operator has to resume it. */
  readonly pause?: number;
  redriven(now: number): void;
  cameBack(now: number, count: number): void;
  /** Whether more came back than may. */
  isOpen(now: number): boolean;
  /** Forgets what opened it: a redrive that it stopped takes the risk once more. */
  close?(): void;
}

/** What governs a redrive. */
export interface RedriveRules {
  readonly clock: RedriveClock;
  readonly pacing: Pacing;
  readonly counts: RedriveCounts;
  readonly circuit?: Circuit | undefined;
  readonly batches?: Batches | undefined;
  /** How often it looks after its end for what comes back: milliseconds. */
  readonly lookEvery: number;
}

/** After its end a redrive with a circuit still counts what comes back: for so many milliseconds. */
const watchedFor = 60_000;

/**
 * One redrive, whatever moves its messages: its state, its rate, its circuit, its counts, and the watch after its end. A
 * subclass is a mover: it takes messages from their queue, asks here how many may go, and reports here what became of them.
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

  protected constructor(protected readonly rules: RedriveRules) {
    this.startedAt = rules.clock.now();
    this.counts = rules.counts;
  }

  /** The state is another: begin to move, or stop moving. */
  protected abstract changed(): void;

  /** Counts what came back dead since the last look. @param seen is called once, with the number */
  protected abstract look(seen: (count: number) => void): void;

  /** Whether it goes on counting what comes back after its end. */
  protected get isWatched(): boolean {
    return this.rules.circuit !== undefined;
  }

  get state(): RedriveState {
    return this.#state;
  }

  /** Why it is not running, where that is not plain. */
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
   * Up to when it counts what comes back: a minute after its end, in milliseconds since 1970. Undefined before its end, and
   * without a circuit.
   */
  get watchedUntil(): number | undefined {
    return this.#watchedUntil;
  }

  /** @returns false when it is not running; one that would continue by itself can be paused, too */
  pause(): boolean {
    const isPausable = this.#state === 'tripped' && this.rules.circuit?.pause !== undefined;
    if (this.#state !== 'running' && !isPausable) return false;
    this.#become('paused');
    return true;
  }

  /** Continues after a pause, or after it stopped itself. @returns false when it does neither */
  resume(): boolean {
    if (this.#state !== 'paused' && this.#state !== 'tripped') return false;
    const { clock, circuit, batches, pacing } = this.rules;
    const now = clock.now();
    circuit?.close?.();
    pacing.rested(this.#restsSince, now);
    batches?.restart(now);
    this.#become('running');
    return true;
  }

  /** Ends it for good. @returns false when it is over already */
  stop(reason?: string): boolean {
    return this.end('stopped', reason);
  }

  /** Ends it for good, and ends the watch. Idempotent. */
  close(reason?: string): void {
    this.#isClosed = true;
    this.stop(reason);
    const { clock } = this.rules;
    if (this.#watchedUntil !== undefined) this.#watchedUntil = Math.min(this.#watchedUntil, clock.now());
    clock.wakeAt(undefined, this.#lookBack);
  }

  /** Messages that may go now: by the rate, and by the batch. */
  protected allowed(now: number): number {
    const { pacing, batches } = this.rules;
    return Math.min(pacing.allowed(now), batches?.allowed(now) ?? Infinity);
  }

  /** A message was redriven. @returns true when it ended a batch */
  protected redriven(now: number): boolean {
    this.rules.circuit?.redriven(now);
    return this.rules.batches?.spend(1, now) ?? false;
  }

  /** Redriven messages came back dead, or none did since the last look. Stops a running redrive when its circuit opens. */
  protected cameBack(count: number): void {
    const { circuit, clock } = this.rules;
    this.counts.cameBack += count;
    if (this.#state !== 'running' || circuit === undefined) return;
    const now = clock.now();
    circuit.cameBack(now, count);
    if (!circuit.isOpen(now)) return;
    this.#become('tripped', circuit.reason);
    if (circuit.pause === undefined) return;
    this.#trippedUntil = now + circuit.pause;
    clock.wakeAt(this.#trippedUntil, this.#continue);
  }

  /** @returns false when it is over already */
  protected end(state: 'completed' | 'stopped' | 'failed', reason?: string): boolean {
    if (this.isOver) return false;
    const { clock, lookEvery } = this.rules;
    this.#endedAt = clock.now();
    if (this.isWatched && !this.#isClosed) {
      this.#watchedUntil = this.#endedAt + watchedFor;
      clock.wakeAt(this.#endedAt + lookEvery, this.#lookBack);
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

  /** What was redriven last fails after the end. */
  readonly #lookBack = (): void =>
    this.look((count) => {
      if (this.#isClosed) return;
      this.cameBack(count);
      const { clock, lookEvery } = this.rules;
      const [now, until] = [clock.now(), this.#watchedUntil ?? 0];
      if (now < until) clock.wakeAt(Math.min(until, now + lookEvery), this.#lookBack);
    });
}
