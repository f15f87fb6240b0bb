import { type ByteReader, decodeText } from '../../engine/message/index.js';

/** A power of two. */
const places = 16;

/** The longest text that is remembered, in bytes. */
const longest = 64;

/**
 * Reads short strings that are often the same, such as the exchange of each delivery: comparing bytes with a text costs less than making
 * a text of them. At most 16 texts of 64 bytes are remembered.
 */
export class KnownTexts {
  readonly #known: string[] = [];

  /** @throws Malformed beyond the end */
  read(from: ByteReader): string {
    const length = from.octet();
    const at = from.take(length);
    const { bytes } = from;
    if (length > longest) return decodeText(bytes, at, at + length);
    const place = (length + (bytes[at + length - 1] as number)) & (places - 1);
    const known = this.#known[place];
    if (known !== undefined && isText(known, bytes, at, length)) return known;
    return (this.#known[place] = decodeText(bytes, at, at + length));
  }
}

/** Whether a text is these bytes in ASCII. Any other text is not recognised, because its characters are not its bytes. */
function isText(text: string, bytes: Buffer, at: number, length: number): boolean {
  if (text.length !== length) return false;
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code !== bytes[at + index] || code > 127) return false;
  }
  return true;
}
