import type { Done, Publication } from '../../backend.js';

/** The estimated bytes of a message besides its body. */
const overhead = 512;

/** The bytes of a publish that count towards the bound of the buffer. */
export const sizeOf = ({ body }: Publication): number => body.length + overhead;

/** A publish that is not confirmed yet: it waits to be sent, was sent, or waits to be sent again. */
export class Outgoing {
  isOver = false;
  /** True if it was sent, so that a queue may have it. */
  mayBeTaken = false;
  /** True if its exchange was missing, and was declared again. */
  wasRestored = false;
  /** The number of nacks, and the time of the first. */
  nacks = 0;
  nackedSince = 0;
  /** Its neighbours among the open publishes. */
  previous: Outgoing | undefined;
  next: Outgoing | undefined;
  constructor(
    readonly publication: Publication,
    readonly done: Done | undefined,
    /** The time at which it fails, in milliseconds since 1970. */
    readonly deadline: number,
    /** Bytes that count towards the bound of the buffer. */
    readonly size: number,
  ) {}
}

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

  /** Puts publishes before all others, because they were published before. */
  putFirst(outgoing: readonly Outgoing[]): void {
    this.#waiting = outgoing.concat(this.#waiting.slice(this.#head) as Outgoing[]);
    this.#head = 0;
  }

  /** @returns the next publish that has not failed meanwhile; undefined when none is left */
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
