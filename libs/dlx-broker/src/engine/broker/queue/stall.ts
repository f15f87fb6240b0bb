import { Timer, type Timers } from '../scheduler/timers.js';

/**
 * The pause before a queue reads again, in milliseconds. It doubles after each failure, up to the maximum.
 */
const firstWait = 100;
const maxWait = 5_000;

/** What a stall needs of its queue. */
interface StalledQueue {
  readonly name: string;
  readonly home: { readonly name: string };
}

/** A queue that delivers nothing, because the body of its next message cannot be read now. */
export interface Stalled {
  readonly queue: StalledQueue;
  /** The error of the last try. */
  readonly reason: string;
  /** When the first try failed, in milliseconds since 1970. */
  readonly since: number;
  /** How many tries have failed in a row. */
  readonly failures: number;
}

/** All queues of a broker that are stalled. */
export class Stalls {
  readonly #stalled = new Set<Stalled>();
  /** Called when the first queue stalls, and when the last stall is over. It may start no command. */
  changed: (stalled: Stalled, isOver: boolean) => void = () => undefined;

  get count(): number {
    return this.#stalled.size;
  }

  [Symbol.iterator](): IterableIterator<Stalled> {
    return this.#stalled.values();
  }

  begin(stalled: Stalled): void {
    this.#stalled.add(stalled);
    if (this.#stalled.size === 1) this.changed(stalled, false);
  }

  end(stalled: Stalled): void {
    if (this.#stalled.delete(stalled) && this.#stalled.size === 0) this.changed(stalled, true);
  }
}

/** The stall of one queue. Every message keeps its place, and a timer tries to read the head again. */
export class Stall implements Stalled {
  failures = 0;
  reason = '';
  since = 0;
  readonly #timer: Timer;

  constructor(
    readonly queue: StalledQueue,
    readonly timers: Timers,
    readonly stalls: Stalls,
    /** Tries the head again. */
    retry: (now: number) => void,
  ) {
    this.#timer = new Timer(retry);
  }

  /** Whether the next try is still to come. */
  get isWaiting(): boolean {
    return this.#timer.isSet;
  }

  /** A try failed. */
  failed(error: unknown, now: number): void {
    this.reason = error instanceof Error ? error.message : String(error);
    if (this.failures++ === 0) {
      this.since = now;
      this.stalls.begin(this);
    }
    this.timers.set(this.#timer, now + Math.min(maxWait, firstWait * 2 ** Math.min(this.failures - 1, 16)));
  }

  /** Ends the stall: the queue delivers again, or has no message to be read. */
  over(): void {
    if (this.failures === 0) return;
    this.failures = 0;
    this.timers.unset(this.#timer);
    this.stalls.end(this);
  }
}
