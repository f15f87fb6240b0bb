/** Bytes of the largest piece in a page, and of the page. A new page costs a microsecond, so pages are as large as the limit below allows. */
const classes = [
  { largest: 64, page: 1_024 },
  { largest: 256, page: 2_048 },
  { largest: 660, page: 4_096 },
  { largest: 4_096, page: 8_192 },
] as const;

/** A character of a string has at most this many bytes in UTF-8. */
const mostOfCharacter = 3;

/** Keeps the memory of a page from being transferred to a worker with one body: the other bodies in it would be empty. */
type Protect = (memory: ArrayBufferLike) => void;

/**
 * Memory for small bodies and properties, which may be kept for long. Node shares pages of 8 KB (64 KB since 24.19) among all small buffers,
 * and one buffer in use keeps its page: a queue of 16-byte messages could keep a page for each. Here a page has pieces of about one size only,
 * so a message keeps at most ten times the memory that counts for it.
 */
export class BytePages {
  #protect: Protect = () => undefined;
  readonly #pages = classes.map(({ page }) => Buffer.allocUnsafeSlow(page));
  readonly #used = classes.map(() => 0);

  protect(protect: Protect): void {
    this.#protect = protect;
    for (const { buffer } of this.#pages) protect(buffer);
  }

  /** @returns uninitialized memory */
  take(length: number): Buffer {
    if (length > 4_096) return Buffer.allocUnsafeSlow(length);
    const index = classOf(length);
    const { page } = classes[index]!;
    let at = this.#used[index]!;
    if (at + length > page) {
      this.#pages[index] = Buffer.allocUnsafeSlow(page);
      this.#protect(this.#pages[index].buffer);
      at = 0;
    }
    this.#used[index] = at + length;
    return this.#pages[index]!.subarray(at, at + length);
  }

  /** @returns the text in UTF-8 */
  text(text: string): Buffer {
    const { length } = text;
    const index = classOf(length);
    const at = this.#used[index]!;
    if (at + length * mostOfCharacter <= classes[index]!.page) {
      // It fits in any case, and need not be measured first.
      const page = this.#pages[index]!;
      const end = (this.#used[index] = at + page.write(text, at));
      return page.subarray(at, end);
    }
    const bytes = this.take(Buffer.byteLength(text));
    bytes.write(text);
    return bytes;
  }
}

const classOf = (length: number): 0 | 1 | 2 | 3 => (length <= 64 ? 0 : length <= 256 ? 1 : length <= 660 ? 2 : 3);

const pages = new BytePages();

/** Protects all pages, also those that are made later. */
export const protectPages = (protect: Protect): void => pages.protect(protect);

/** @returns uninitialized memory for bytes that may be kept for long */
export const keptBytes = (length: number): Buffer => pages.take(length);

/** A copy of a part of a buffer, which may be kept for long. */
export function keptCopy(bytes: Uint8Array, start: number, end: number): Buffer {
  const length = end - start;
  const copy = pages.take(length);
  if (length > 64) copy.set(bytes.subarray(start, end));
  else for (let index = 0; index < length; index++) copy[index] = bytes[start + index]!;
  return copy;
}

/** A text in UTF-8, which may be kept for long. */
export const keptText = (text: string): Buffer => pages.text(text);
