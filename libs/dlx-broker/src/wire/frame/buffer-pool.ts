/** Bytes of a large buffer: what leaves in one turn goes out in pieces of this size. */
export const pooledSize = 65_536;

/** Bytes of a small buffer, enough for what most connections send in a turn. */
export const smallSize = 2_048;

/** Large buffers kept for the next turn; more are left to the garbage collector. */
const keptAtMost = 64;

/** Small buffers kept: of many connections each may have one in the same turn. */
const smallKeptAtMost = 2_048;

/**
 * Output buffers, used again as soon as the socket is done with them: a fresh one for each write costs more in garbage
 * collection than everything else the listener does. A connection begins with a small one, because thousands of
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
      if (this.#small.length < smallKeptAtMost) this.#small.push(buffer);
    } else if (length === pooledSize && this.#large.length < keptAtMost) this.#large.push(buffer);
  }
}
