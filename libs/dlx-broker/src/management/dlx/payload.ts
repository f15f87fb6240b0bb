import type { Message } from '../../message/index.js';

/** How a payload is wanted: as text where it is text, or as base64 always. */
export type PayloadEncoding = 'auto' | 'base64';

/** A body in JSON, in the words of RabbitMQ's `get`. */
export interface Payload {
  /** Null when the body cannot be read back from disk. */
  readonly payload: string | null;
  readonly payload_encoding: 'string' | 'base64';
  /** Of the whole body. */
  readonly payload_bytes: number;
  readonly payload_truncated: boolean;
}

const nothing = new Uint8Array();

/** A character of UTF-8 is no longer than this. */
const longestCharacter = 4;

/** @param truncate bytes of the body that are shown; a character is not cut in two. With 0 the body is not even read */
export function payloadOf(message: Message, encoding: PayloadEncoding, truncate: number): Payload {
  const payload_truncated = message.size > truncate;
  const about = { payload_bytes: message.size, payload_truncated };
  const body = truncate === 0 ? nothing : bodyOf(message);
  if (body === undefined) return { payload: null, payload_encoding: 'base64', ...about, payload_truncated: true };
  const shown = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, truncate));
  const text = encoding === 'auto' ? textOf(shown, payload_truncated) : undefined;
  if (text !== undefined) return { payload: text, payload_encoding: 'string', ...about };
  return { payload: shown.toString('base64'), payload_encoding: 'base64', ...about };
}

/** Undefined when a disk has it no more as it was written: the other messages of a page are shown all the same. */
export function bodyOf(message: Message): Uint8Array | undefined {
  try {
    return message.body;
  } catch {
    return undefined;
  }
}

/** Undefined when the bytes are no text. */
function textOf(bytes: Buffer, wasCut: boolean): string | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const least = wasCut ? Math.max(0, bytes.length - longestCharacter + 1) : bytes.length;
  for (let length = bytes.length; length >= least; length--) {
    try {
      return decoder.decode(bytes.subarray(0, length));
    } catch {
      // Perhaps only the last character is incomplete.
    }
  }
  return undefined;
}
