import type { FieldTable } from '../../engine/message/index.js';
import { hashOfTable } from './erlang-hash.js';

/** The name of a binding in a path: its key and, if it has arguments, `~` and their hash. The empty key is `~` (rule U3). */
export function propertiesKey(bindingKey: string, args: FieldTable): string {
  const key = quoted(bindingKey);
  if (args.size > 0) return `${key}~${hashOf(args)}`;
  return key === '' ? '~' : key;
}

/** The hash of arguments: four bytes in base64url. */
function hashOf(args: FieldTable): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(hashOfTable(args));
  return bytes.toString('base64url');
}

/** Encoded as in a query string, with a plus for a space. `~` is encoded too, because it separates key and hash. */
const quoted = (text: string): string => (/^[A-Za-z0-9._-]*$/.test(text) ? text : quotedBytes(text));

const quotedBytes = (text: string): string =>
  [...Buffer.from(text)].map((byte) => (byte === 0x20 ? '+' : quotedByte(byte))).join('');

const quotedByte = (byte: number): string =>
  /[A-Za-z0-9._-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : percent(byte);

const percent = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
