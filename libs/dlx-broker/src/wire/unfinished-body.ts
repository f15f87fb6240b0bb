const nothing = Buffer.alloc(0);

/** The smallest block that is made for pieces of a body, and the largest, in bytes. */
const smallestBlock = 4_096;
const largestBlock = 1_048_576;

/** Pieces of at least so many bytes may stay in the buffer they came in. */
const ownBlock = 16_384;

/**
 * A body that is not complete. Its memory is at most twice the bytes received, and {@link smallestBlock} more, whatever
 * size was announced: small pieces are collected in blocks that grow with the bytes received.
 */
export class UnfinishedBody {
  #blocks: Buffer[] = [];
  /** Bytes in use of the last block. */
  #used = 0;
  #received = 0;

  /** @param size bytes announced; no block reaches beyond */
  constructor(readonly size: number) {}

  /** Adds bytes, which are copied unless they are most of their buffer. */
  add(bytes: Buffer, start: number, end: number): void {
    let at = start;
    while (at < end) {
      const block = this.#blocks.at(-1);
      if (block === undefined || this.#used === block.length) {
        if (this.#adopts(bytes, at, end)) return;
        this.#extend(end - at);
      } else {
        const length = Math.min(end - at, block.length - this.#used);
        copy(bytes, at, block, this.#used, length);
        this.#used += length;
        this.#received += length;
        at += length;
      }
    }
  }

  /** All of it in one piece; to be called once. */
  whole(): Buffer {
    const blocks = this.#blocks;
    this.#blocks = [];
    if (blocks.length === 1) return (blocks[0] as Buffer).subarray(0, this.#received);
    return blocks.length === 0 ? nothing : Buffer.concat(blocks, this.#received);
  }

  /** A large piece that came in a buffer of its own stays there. */
  #adopts(bytes: Buffer, at: number, end: number): boolean {
    const length = end - at;
    if (length < ownBlock || !isMost(bytes, length)) return false;
    this.#blocks.push(bytes.subarray(at, end));
    this.#used = length;
    this.#received += length;
    return true;
  }

  #extend(needed: number): void {
    const received = this.#received;
    const grown = Math.max(needed, smallestBlock, Math.min(received, largestBlock));
    this.#blocks.push(Buffer.allocUnsafeSlow(Math.min(grown, this.size - received)));
    this.#used = 0;
  }
}

/** Whether so many bytes are most of the memory of their buffer. */
export const isMost = (bytes: Buffer, length: number): boolean => length * 2 >= bytes.buffer.byteLength;

function copy(from: Buffer, start: number, to: Buffer, at: number, length: number): void {
  if (length > 64) from.copy(to, at, start, start + length);
  else for (let index = 0; index < length; index++) to[at + index] = from[start + index] as number;
}
