import type { Done, Publication } from '../../backend.js';

/** A publish until its end: it waits to be sent, is unconfirmed, or waits to be sent again. */
export class Outgoing {
  isOver = false;
  /** Handed to a channel at least once and not refused there: a queue may have it. */
  mayBeTaken = false;
  /** How often it was refused in a row, and since when. */
  nacks = 0;
  nackedSince = 0;

  constructor(
    readonly publication: Publication,
    readonly done: Done | undefined,
    /** When it fails at the latest: milliseconds since 1970. */
    readonly deadline: number,
    /** Bytes that count towards the bound of the buffer. */
    readonly size: number,
  ) {}
}

/** Bytes of a message besides its body, roughly: an object, its properties and its place in the lists. */
export const overhead = 512;

/** Messages that wait to be sent, first in first out. */
export class WaitingLine {
  #waiting: (Outgoing | undefined)[] = [];
  #head = 0;

  get isEmpty(): boolean {
    return this.#head === this.#waiting.length;
  }

  push(outgoing: Outgoing): void {
    this.#waiting.push(outgoing);
  }

  /** These were sent before those that wait, so they go first. */
  putFirst(outgoing: readonly Outgoing[]): void {
    this.#waiting = outgoing.concat(this.#waiting.slice(this.#head) as Outgoing[]);
    this.#head = 0;
  }

  /** @returns the first one that is not over; undefined when none is left */
  take(): Outgoing | undefined {
    while (this.#head < this.#waiting.length) {
      const next = this.#waiting[this.#head] as Outgoing;
      this.#waiting[this.#head++] = undefined;
      if (this.#head > 1_024 && this.#head * 2 > this.#waiting.length) {
        this.#waiting = this.#waiting.slice(this.#head);
        this.#head = 0;
      }
      if (!next.isOver) return next;
    }
    this.#waiting = [];
    this.#head = 0;
    return undefined;
  }
}
