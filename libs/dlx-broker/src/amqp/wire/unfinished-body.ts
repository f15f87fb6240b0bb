import { keptBytes } from '../../engine/message/index.js';
import { isCommonRead } from './frame/reader.js';

/** The smallest and the largest block that is made for pieces of a body, in bytes. */
const minBlock = 4_096;
const maxBlock = 1_048_576;

/** Pieces of at least this many bytes may stay in the buffer in which they came. */
const minAdopted = 16_384;

/**
 * A body that is not complete. Its memory is at most twice the bytes received, and {@link minBlock} more, whatever
 * size was announced: small pieces are collected in blocks that grow with the bytes received.
 */
export class UnfinishedBody {
  #blocks: Buffer[] = [];
  /** Bytes in use of the last block. */
  #used = 0;
  #received = 0;

  /** @param size bytes announced; the blocks together have no more */
  constructor(readonly size: number) {}

  /** Adds bytes. They are copied, unless they are most of their buffer. */
  add(bytes: Buffer, start: number, end: number): void {
    let at = start;
    while (at < end) {
      const block = this.#blocks.at(-1);
      if (block === undefined || this.#used === block.length) {
        if (this.#keptInPlace(bytes, at, end)) return;
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
    const body = keptBytes(this.#received);
    let at = 0;
    for (const block of blocks) at += block.copy(body, at);
    return body;
  }

  /** Keeps a large piece in its buffer if it is most of the buffer. @returns whether it did so */
  #keptInPlace(bytes: Buffer, at: number, end: number): boolean {
    const length = end - at;
    if (length < minAdopted || !isMostOfBuffer(bytes, length)) return false;
    this.#blocks.push(bytes.subarray(at, end));
    this.#used = length;
    this.#received += length;
    return true;
  }

  #extend(needed: number): void {
    const received = this.#received;
    const grown = Math.max(needed, minBlock, Math.min(received, maxBlock));
    this.#blocks.push(Buffer.allocUnsafeSlow(Math.min(grown, this.size - received)));
    this.#used = 0;
  }
}

/**
 * Whether `length` bytes are most of the memory of their buffer, so that a slice of them may be kept: it keeps all of that memory.
 * False for a read in the common buffer.
 */
export const isMostOfBuffer = (bytes: Buffer, length: number): boolean =>
  length * 2 >= bytes.buffer.byteLength && !isCommonRead(bytes);

function copy(from: Buffer, start: number, to: Buffer, at: number, length: number): void {
  if (length > 64) from.copy(to, at, start, start + length);
  else for (let index = 0; index < length; index++) to[at + index] = from[start + index] as number;
}
