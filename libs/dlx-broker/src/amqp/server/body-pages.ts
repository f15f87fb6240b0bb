import { Buffer } from 'node:buffer';
import { noBytes } from '../../engine/message/index.js';

/** Bytes of the largest body in a page, and of the page. A page keeps its memory while one of its bodies is in use. */
const classes = [
  { body: 64, page: 1_024 },
  { body: 256, page: 2_048 },
  { body: 1_024, page: 4_096 },
] as const;

/**
 * Memory for small bodies. Node shares pages of 8 KB among all small buffers, so that a queue of 16-byte messages could keep 8 KB for each.
 * Here bodies share a page with others of their size only, and a body keeps at most ten times the memory that counts for its message.
 */
export class BodyPages {
  readonly #pages = classes.map(() => noBytes);
  readonly #used = classes.map(() => 0);

  /** @returns uninitialized memory for a body */
  take(length: number): Buffer {
    const index = length <= classes[0].body ? 0 : length <= classes[1].body ? 1 : 2;
    const { body, page } = classes[index] as (typeof classes)[number];
    if (length > body) return Buffer.allocUnsafe(length);
    let at = this.#used[index] as number;
    if (at + length > (this.#pages[index] as Buffer).length) {
      this.#pages[index] = Buffer.allocUnsafeSlow(page);
      at = 0;
    }
    this.#used[index] = at + length;
    return (this.#pages[index] as Buffer).subarray(at, at + length);
  }
}
