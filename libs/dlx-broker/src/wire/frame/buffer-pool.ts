/** Bytes of a pooled buffer: what leaves in one turn goes out in pieces of this size. */
export const pooledSize = 65_536;

/** Buffers kept for the next turn; more are left to the garbage collector. */
const keptAtMost = 64;

/**
 * Output buffers, used again as soon as the socket is done with them: a fresh one for each write costs more in garbage
 * collection than everything else the listener does.
 */
export class BufferPool {
  readonly #free: Buffer[] = [];

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(pooledSize);
  }

  /** Takes a buffer back. One of another size was made for a large frame, and is not kept. */
  giveBack(buffer: Buffer): void {
    if (buffer.length === pooledSize && this.#free.length < keptAtMost) this.#free.push(buffer);
  }
}
