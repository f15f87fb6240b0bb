/** Bytes of a large buffer. More output of one turn is written in pieces of this size. */
export const pooledSize = 65_536;

/** Bytes of a small buffer, enough for what most connections send in a turn. */
export const smallSize = 2_048;

/** The most large buffers that are kept for the next turn; others are left to the garbage collector. */
const maxLarge = 64;

/** The most small buffers that are kept: each of many connections may need one in the same turn. */
const maxSmall = 2_048;

/**
 * Output buffers, used again as soon as the socket has sent them: a new buffer for each write would cost more in garbage
 * collection than all else that the listener does. A connection begins with a small one, because thousands of
 * connections may send a little in the same turn.
 */
export class BufferPool {
  readonly #large: Buffer[] = [];
  readonly #small: Buffer[] = [];

  /** @param needed bytes, {@link pooledSize} at most @returns a buffer with as many or more */
  take(needed: number): Buffer {
    if (needed <= smallSize) return this.#small.pop() ?? Buffer.allocUnsafeSlow(smallSize);
    return this.#large.pop() ?? Buffer.allocUnsafeSlow(pooledSize);
  }

  /** Takes a buffer back. One of another size was made for a large frame, and is not kept. */
  giveBack(buffer: Buffer): void {
    const { length } = buffer;
    if (length === smallSize) {
      if (this.#small.length < maxSmall) this.#small.push(buffer);
    } else if (length === pooledSize && this.#large.length < maxLarge) this.#large.push(buffer);
  }
}
