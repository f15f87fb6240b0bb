import type { FieldTable } from '../message/index.js';
import { faultIn, hasMoreThan, PackedTable } from '../message/index.js';
import { preconditionFailed } from './errors.js';

// What the wire cannot bring, and a host in the same process can. RabbitMQ has no words for it; it is refused softly,
// so that one careless call ends a channel and not all of the application's consumers.

/** Bytes of a short string. */
const longestName = 255;

/**
 * Names of queues and exchanges, keys and consumer tags travel as short strings.
 * @throws 406 when one has more than 255 bytes of UTF-8
 */
export function checkLength(what: string, name: string): void {
  if (name.length * 3 <= longestName) return; // nothing in UTF-16 takes more than three bytes
  const bytes = bytesOf(name);
  if (bytes <= longestName) return;
  throw preconditionFailed(`${what} '${name.slice(0, 32)}...' is ${bytes} bytes long, more than ${longestName}`);
}

/** Values of the arguments of a queue, an exchange, a binding or a consumer: they are kept as long as it is there. */
const mostArguments = 4_096;

/** @throws 406 when headers or arguments hold what cannot travel */
export function checkTable(what: string, table: FieldTable | undefined): void {
  // What the wire brought was checked there.
  if (table === undefined || table instanceof PackedTable || table.size === 0) return;
  const fault = faultIn(table);
  if (fault !== undefined) throw preconditionFailed(`${what} ${fault}`);
  if (what === 'argument' && hasMoreThan(table, mostArguments)) {
    throw preconditionFailed(`arguments have more than ${mostArguments} values, nested ones counted`);
  }
}

/** As UTF-8. */
function bytesOf(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // Both halves of a pair together make four bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
