import type { FieldTable } from '../../message/index.js';
import { faultIn, hasMoreThan, isShortstr, maxShortstrBytes, PackedTable, textLength } from '../../message/index.js';
import { preconditionFailed } from '../errors.js';

// Checks of values that the wire cannot carry, and that a host in the same process can pass. RabbitMQ has no errors for
// them. They close the channel and not the connection, so that a wrong call does not end all consumers of the application.

/**
 * Names of queues and exchanges, keys and consumer tags travel as short strings.
 * @throws 406 when one has more than 255 bytes
 */
export function checkLength(what: string, name: string): void {
  if (isShortstr(name)) return;
  const text = `${what} '${name.slice(0, 32)}...' is ${textLength(name)} bytes long, more than ${maxShortstrBytes}`;
  throw preconditionFailed(text);
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
