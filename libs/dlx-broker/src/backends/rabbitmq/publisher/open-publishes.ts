import { OverloadedError } from '../../errors.js';
import type { Outgoing } from './outgoing.js';

/** Limits of the messages that are not confirmed. A single message may be larger than `bytes`. */
export interface BufferLimits {
  readonly messages: number;
  readonly bytes: number;
}

/**
 * All publishes that are neither confirmed nor failed, in the order of their deadlines. They are linked with one another: a Set of
 * publishes that come and go is copied again and again.
 */
export class OpenPublishes {
  #first: Outgoing | undefined;
  #last: Outgoing | undefined;
  #count = 0;
  #bytes = 0;

  constructor(private readonly limits: BufferLimits) {}

  get count(): number {
    return this.#count;
  }

  hasRoomFor(size: number): boolean {
    const { messages, bytes } = this.limits;
    return this.#count === 0 || (this.#count < messages && this.#bytes + size <= bytes);
  }

  add(outgoing: Outgoing): void {
    const last = this.#last;
    if (last === undefined) this.#first = outgoing;
    else {
      last.next = outgoing;
      outgoing.previous = last;
    }
    this.#last = outgoing;
    this.#count++;
    this.#bytes += outgoing.size;
  }

  /** @param outgoing was added, and not removed yet */
  remove(outgoing: Outgoing): void {
    const { previous, next } = outgoing;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // A publish that is over must not keep later ones in memory.
    outgoing.previous = outgoing.next = undefined;
    this.#count--;
    this.#bytes -= outgoing.size;
  }

  /** The oldest publish, if its deadline is not after this time. @param now milliseconds since 1970 */
  lateAt(now: number): Outgoing | undefined {
    const first = this.#first;
    return first !== undefined && first.deadline <= now ? first : undefined;
  }

  /** The error of a publish for which there is no room. @param whyNot why the buffer is not emptied */
  full(whyNot: string): OverloadedError {
    const { messages, bytes } = this.limits;
    const held = `${this.#count} messages of ${this.#bytes} bytes are not confirmed yet`;
    const bound = `at most ${messages} messages of ${bytes} bytes are held (option 'publishBuffer')`;
    return new OverloadedError(`${held}, and ${bound}: ${whyNot}`);
  }
}
