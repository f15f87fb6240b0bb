import type { Backend } from '../../../backends/index.js';
import { after } from '../../../platform/index.js';

/** How long nothing may be settled while the window is full, until the queue is reported as stalled, in milliseconds. */
const stalledAfter = 10_000;

/** How often a stalled queue is looked at, in milliseconds. */
const lookEvery = 1_000;

/** What is watched. */
export interface Watched {
  /** True while the window is full of messages that cannot begin. */
  isBlocked(): boolean;
  stalled(): void;
  recovered(): void;
}

/** Notices that a queue is stalled, and that it goes on. It sets no timer while there is room. */
export class StallWatch {
  /** Since when it is blocked and nothing was settled. */
  #since: number | undefined;
  #cancelTimer: (() => void) | undefined;
  #isStalled = false;

  constructor(
    private readonly clock: Backend['clock'],
    private readonly watched: Watched,
  ) {}

  /** Something has changed. @param isProgress a message was settled */
  note(isProgress: boolean): void {
    if (!this.watched.isBlocked()) this.#since = undefined;
    else if (isProgress || this.#since === undefined) {
      this.#since = this.clock.now();
      if (this.#cancelTimer === undefined) this.#lookIn(stalledAfter);
    }
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#since = undefined;
    this.#isStalled = false;
  }

  #lookIn(delay: number): void {
    this.#cancelTimer = after(this.clock, delay, () => {
      this.#cancelTimer = undefined;
      this.#look();
    });
  }

  #look(): void {
    const isBlocked = this.watched.isBlocked();
    if (this.#isStalled) {
      if (isBlocked) return this.#lookIn(lookEvery);
      this.#isStalled = false;
      return this.watched.recovered();
    }
    if (this.#since === undefined) return;
    const left = this.#since + stalledAfter - this.clock.now();
    if (left > 0) return this.#lookIn(left);
    this.#isStalled = true;
    this.#lookIn(lookEvery);
    this.watched.stalled();
  }
}
