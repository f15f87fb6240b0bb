import type { Deque } from '../deque.js';
import { Timer, type Timers } from '../scheduler/timers.js';
import type { Entry } from './entry.js';
import type { Ready } from './ready-list.js';

/** When an at-least-once dead letter that found no target is routed again, in milliseconds (rule M3). */
export const defaultDeadLetterRetryAfter = 180_000;
/** The shortest such time. */
export const minDeadLetterRetryAfter = 1_000;

export interface RetainedLetter {
  readonly entry: Entry;
}

/** Dead letters that stay in a quorum queue until every target has confirmed them (rules M3 to M5). */
export class Retained<Letter extends RetainedLetter> {
  readonly #letters = new Set<Letter>();
  #stranded: Letter[] = [];
  readonly #timer: Timer;
  #bytes = 0;

  constructor(
    readonly timers: Timers,
    readonly sizeOf: Ready['sizeOf'],
    /** When a letter that found no target is routed again, in milliseconds (rule M3). */
    readonly retryAfter: number,
    /** Dead letters that the scheduler is to route. */
    readonly dead: Deque<Letter>,
    /** Called when letters were added to `dead`. */
    readonly wake: () => void,
  ) {
    this.#timer = new Timer(() => this.#retry());
  }

  get count(): number {
    return this.#letters.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The number of letters that found no target, and wait to be routed again. */
  get stranded(): number {
    return this.#stranded.length;
  }

  add(letter: Letter): void {
    this.#letters.add(letter);
    this.#bytes += this.sizeOf(letter.entry.message);
  }

  has(letter: Letter): boolean {
    return this.#letters.has(letter);
  }

  /** Every target queue has the letter. */
  release(letter: Letter): void {
    if (this.#letters.delete(letter)) this.#bytes -= this.sizeOf(letter.entry.message);
  }

  /** The letter has no target, or a target refused it: it is routed again later. */
  retryLater(letter: Letter, now: number): void {
    this.#stranded.push(letter);
    if (!this.#timer.isSet) this.timers.set(this.#timer, now + this.retryAfter);
  }

  /** The strategy changed to at-most-once, or the queue is gone (rule M4). */
  clear(): Letter[] {
    const letters = [...this.#letters];
    this.#letters.clear();
    this.#bytes = 0;
    this.#stranded = [];
    this.timers.unset(this.#timer);
    return letters;
  }

  #retry(): void {
    const stranded = this.#stranded;
    this.#stranded = [];
    for (const letter of stranded) if (this.#letters.has(letter)) this.dead.push(letter);
    this.wake();
  }
}
