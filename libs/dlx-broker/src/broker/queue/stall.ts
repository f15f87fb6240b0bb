import { Timer, type Timers } from '../scheduler/timers.js';

/**
 * How long a queue waits before it reads again, in milliseconds: twice as long after each failure, up to the longest.
 */
const firstWait = 100;
const longestWait = 5_000;

/** A queue, as its stall knows it. */
export interface StalledQueue {
  readonly name: string;
  readonly home: { readonly name: string };
}

/** A queue that stands still, because the body of its next message cannot be read now. */
export interface Stalled {
  readonly queue: StalledQueue;
  /** What the store said of the last try. */
  readonly reason: string;
  /** When the first try failed, in milliseconds since 1970. */
  readonly since: number;
  /** How many tries have failed in a row. */
  readonly failures: number;
}

/** All queues of a broker that stand still. */
export class Stalls {
  readonly #stalled = new Set<Stalled>();
  /** Called when the first queue stands still, and when the last of them goes on. It may start no command. */
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

/** The pause of one queue: every message keeps its place, and the head is tried again by the broker's clock. */
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
    this.timers.set(this.#timer, now + Math.min(longestWait, firstWait * 2 ** Math.min(this.failures - 1, 16)));
  }

  /** The queue goes on, or there is nothing in it that has to be read. */
  over(): void {
    if (this.failures === 0) return;
    this.failures = 0;
    this.timers.unset(this.#timer);
    this.stalls.end(this);
  }
}
