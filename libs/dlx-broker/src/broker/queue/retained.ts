import type { Deque } from '../deque.js';
import { Alarm, type Wakeups } from '../scheduler/timers.js';
import type { DeadLetter } from './dead-letter.js';

/** How long an at-least-once dead letter that found no target waits for its next try, in milliseconds (rule M3). */
const retryAfter = 180_000;

/** Dead letters that stay in a quorum queue until every target has confirmed them (rules M3 to M5). */
export class Retained {
  readonly #letters = new Set<DeadLetter>();
  #stranded: DeadLetter[] = [];
  readonly #alarm: Alarm;
  #bytes = 0;

  constructor(
    readonly wakeups: Wakeups,
    /** Takes them to their exchange once more. */
    readonly dead: Deque<DeadLetter>,
    /** Called when there is work in `dead` again. */
    readonly wake: () => void,
  ) {
    this.#alarm = new Alarm(() => this.#retry());
  }

  get count(): number {
    return this.#letters.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(letter: DeadLetter): void {
    this.#letters.add(letter);
    this.#bytes += letter.entry.message.size;
  }

  has(letter: DeadLetter): boolean {
    return this.#letters.has(letter);
  }

  /** Every target has it. */
  release(letter: DeadLetter): void {
    if (this.#letters.delete(letter)) this.#bytes -= letter.entry.message.size;
  }

  /** No target, or one that refused: it stays. */
  strand(letter: DeadLetter, now: number): void {
    this.#stranded.push(letter);
    if (!this.#alarm.isSet) this.wakeups.set(this.#alarm, now + retryAfter);
  }

  /** The strategy changed to at-most-once, or the queue is gone (rule M4). */
  clear(): DeadLetter[] {
    const letters = [...this.#letters];
    this.#letters.clear();
    this.#bytes = 0;
    this.#stranded = [];
    this.wakeups.unset(this.#alarm);
    return letters;
  }

  #retry(): void {
    const stranded = this.#stranded;
    this.#stranded = [];
    for (const letter of stranded) if (this.#letters.has(letter)) this.dead.push(letter);
    this.wake();
  }
}
