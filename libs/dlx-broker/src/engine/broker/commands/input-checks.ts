import type { FieldTable } from '../../message/index.js';
import { faultIn, hasMoreThan, isShortstr, maxShortstrBytes, PackedTable, textLength } from '../../message/index.js';
import { preconditionFailed } from '../errors.js';

// Checks of values that the wire cannot carry; only a host in the same process can pass them. RabbitMQ has no errors for such
// values. They close the channel and not the connection, so that a wrong call does not end all consumers of the application.

/**
 * Names of queues and exchanges, keys and consumer tags travel as short strings.
 * @throws 406 when one has more than 255 bytes
 */
export function checkLength(what: string, name: string): void {
  if (isShortstr(name)) return;
  const text = `${what} '${name.slice(0, 32)}...' is ${textLength(name)} bytes long, more than ${maxShortstrBytes}`;
  throw preconditionFailed(text);
}

/** The most values in the arguments of a queue, exchange, binding or consumer, which are kept as long as that exists. */
const maxArguments = 4_096;

/** @throws 406 when headers or arguments have a value that the wire cannot carry, or arguments have too many values */
export function checkTable(what: string, table: FieldTable | undefined): void {
  // A packed table was checked when it was read or packed.
  if (table === undefined || table instanceof PackedTable || table.size === 0) return;
  const fault = faultIn(table);
  if (fault !== undefined) throw preconditionFailed(`${what} ${fault}`);
  if (what === 'argument' && hasMoreThan(table, maxArguments)) {
    throw preconditionFailed(`arguments have more than ${maxArguments} values, nested ones counted`);
  }
}
