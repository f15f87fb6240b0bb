import { OverloadedError } from '../../errors.js';
import type { Outgoing } from './outgoing.js';

/** Limits of the messages that are not confirmed. A single message may be larger than `bytes`. */
export interface BufferLimits {
  readonly messages: number;
  readonly bytes: number;
}

/** All publishes that are neither confirmed nor failed, in the order of their deadlines. */
export class OpenPublishes {
  readonly #publishes = new Set<Outgoing>();
  #bytes = 0;

  constructor(private readonly limits: BufferLimits) {}

  get count(): number {
    return this.#publishes.size;
  }

  hasRoomFor({ size }: Outgoing): boolean {
    const { messages, bytes } = this.limits;
    return this.count === 0 || (this.count < messages && this.#bytes + size <= bytes);
  }

  add(outgoing: Outgoing): void {
    this.#publishes.add(outgoing);
    this.#bytes += outgoing.size;
  }

  remove(outgoing: Outgoing): void {
    this.#publishes.delete(outgoing);
    this.#bytes -= outgoing.size;
  }

  /** Those whose deadline is not after this time. They may be removed meanwhile. @param now milliseconds since 1970 */
  *until(now: number): Generator<Outgoing> {
    for (const outgoing of this.#publishes) {
      if (outgoing.deadline > now) return;
      yield outgoing;
    }
  }

  /** The error of a publish for which there is no room. @param whyNot why the buffer is not emptied */
  full(whyNot: string): OverloadedError {
    const { messages, bytes } = this.limits;
    const held = `${this.count} messages of ${this.#bytes} bytes are not confirmed yet`;
    const bound = `at most ${messages} messages of ${bytes} bytes are held (option 'publishBuffer')`;
    return new OverloadedError(`${held}, and ${bound}: ${whyNot}`);
  }
}
