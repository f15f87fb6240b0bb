import { isLost, type Message, noBody } from '../../engine/message/index.js';

/** The form of a payload: text if it is text (`auto`), or always base64. */
export type PayloadEncoding = 'auto' | 'base64';

/** A body in JSON, with the names of RabbitMQ's `get`. */
export interface Payload {
  /** Null when the body cannot be read back from disk: `payload_error` says why. */
  readonly payload: string | null;
  /** `lost` for good, or `unreadable` now, so that a later try may succeed. */
  readonly payload_error?: { readonly kind: 'lost' | 'unreadable'; readonly reason: string };
  readonly payload_encoding: 'string' | 'base64';
  /** The size of the whole body. */
  readonly payload_bytes: number;
  readonly payload_truncated: boolean;
}

/** The most bytes of a character in UTF-8. */
const longestCharacter = 4;

/** @param truncate the most bytes of the body; no character is cut. With 0 the body is not read */
export function payloadOf(message: Message, encoding: PayloadEncoding, truncate: number): Payload {
  const payload_truncated = message.size > truncate;
  const about = { payload_bytes: message.size, payload_truncated };
  let body: Uint8Array;
  try {
    body = truncate === 0 ? noBody : message.body;
  } catch (error) {
    const payload_error = { kind: isLost(error) ? 'lost' : 'unreadable', reason: (error as Error).message } as const;
    return { payload: null, payload_encoding: 'base64', ...about, payload_truncated: true, payload_error };
  }
  const shown = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, truncate));
  const text = encoding === 'auto' ? textOf(shown, payload_truncated) : undefined;
  if (text !== undefined) return { payload: text, payload_encoding: 'string', ...about };
  return { payload: shown.toString('base64'), payload_encoding: 'base64', ...about };
}

/** Counts messages whose bodies could not be read, so that a search could not test them. */
export class UnreadableBodies {
  count = 0;
  /** Why the last of these bodies could not be read. */
  reason = '';

  /** The fields for an answer; none if all bodies were read. */
  get json(): { readonly unreadable?: { readonly count: number; readonly reason: string } } {
    return this.count === 0 ? {} : { unreadable: { count: this.count, reason: this.reason } };
  }
}

/** The body of a message; undefined if it cannot be read back from disk, which is counted. */
export function bodyOf(message: Message, unread: UnreadableBodies): Uint8Array | undefined {
  try {
    return message.body;
  } catch (error) {
    if (!isLost(error)) {
      unread.count++;
      unread.reason = (error as Error).message;
    }
    return undefined;
  }
}

/** The bytes as text; undefined if they are no UTF-8. */
function textOf(bytes: Buffer, wasCut: boolean): string | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const least = wasCut ? Math.max(0, bytes.length - longestCharacter + 1) : bytes.length;
  for (let length = bytes.length; length >= least; length--) {
    try {
      return decoder.decode(bytes.subarray(0, length));
    } catch {
      // The last character may be cut.
    }
  }
  return undefined;
}
