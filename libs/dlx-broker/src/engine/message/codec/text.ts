/** A buffer of no bytes, shared. */
export const noBytes: Buffer = Buffer.alloc(0);

/*
 * Names and texts come as bytes that should be UTF-8. Other bytes must be sent on unchanged, because a routing key may
 * have any bytes: a byte that is no part of a character is decoded as a lone surrogate, U+DC00 plus the byte, and encoded
 * as that byte again.
 */

const replacement = '\ufffd';
const firstEscape = 0xdc80;
const lastEscape = 0xdcff;
/** A lone surrogate, which is not the second half of a pair. */
const loneEscape = /[\udc80-\udcff]/u;

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes bytes, losing none. */
export function decodeText(bytes: Buffer, start: number, end: number): string {
  if (start === end) return '';
  const text = bytes.toString('utf8', start, end);
  return text.includes(replacement) ? decodeInvalid(bytes.subarray(start, end), text) : text;
}

/** Whether a text decoded by {@link decodeText} came from proper UTF-8. */
export const isUtf8 = (text: string): boolean => !loneEscape.test(text);

/** Encodes what {@link decodeText} made, byte for byte. */
export function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length === text.length || isUtf8(text)) return bytes;
  const parts: Buffer[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    parts.push(code >= firstEscape && code <= lastEscape ? Buffer.from([code & 0xff]) : Buffer.from(character));
  }
  return Buffer.concat(parts);
}

/** Half of a character above U+FFFF, or a byte that is no part of a character. Other code units have the order of their bytes. */
const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;

/** Compares texts by their bytes, as Erlang compares binaries. */
export function compareBytes(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const [unit, otherUnit] = [one.charCodeAt(index), other.charCodeAt(index)];
    if (unit === otherUnit) continue;
    if (isSurrogate(unit) || isSurrogate(otherUnit)) return encodeText(one).compare(encodeText(other));
    return unit - otherUnit;
  }
  return one.length - other.length;
}

/** The most bytes of an AMQP short string. */
export const maxShortstrBytes = 255;

/** Bytes of a text on the wire. */
export function textLength(text: string): number {
  const bytes = Buffer.byteLength(text);
  // A text with as many bytes as characters is ASCII.
  return bytes === text.length || isUtf8(text) ? bytes : encodeText(text).length;
}

/** Whether a name, a key or a tag fits into a short string. */
export const isShortstr = (text: string): boolean =>
  // A unit of UTF-16 takes at most three bytes.
  text.length * 3 <= maxShortstrBytes || textLength(text) <= maxShortstrBytes;

function decodeInvalid(bytes: Buffer, lossy: string): string {
  try {
    strict.decode(bytes);
    return lossy; // the bytes contain a proper U+FFFD
  } catch {
    return escaped(bytes);
  }
}

function escaped(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at);
    if (length === 0) text += String.fromCharCode(0xdc00 + (bytes[at] as number));
    else text += bytes.toString('utf8', at, at + length);
    at += length || 1;
  }
  return text;
}

/** Bytes of the character that begins here; 0 when no character does. */
function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  try {
    strict.decode(bytes.subarray(at, at + length));
    return length;
  } catch {
    return 0;
  }
}

/** Names that begin so belong to the broker (rules O3, P4). */
export const reservedPrefix = 'amq.';

/** Whether only the broker may give this name to a queue or an exchange. */
export const isReserved = (name: string): boolean => name.startsWith(reservedPrefix);

/** Whether an exchange of this name is there from the start: the default exchange, and those with reserved names. */
export const isPredeclared = (exchange: string): boolean => exchange === '' || isReserved(exchange);
