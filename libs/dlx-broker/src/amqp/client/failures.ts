import { Malformed } from '../../engine/message/index.js';
import { WireError } from '../wire/index.js';
import type { ConnectionFailedError } from './errors.js';
import type { ClientHandshake } from './handshake.js';
import { DialError } from './transport.js';

/** The reply code for bytes of a server that cannot be read. */
export const codeOf = (error: unknown): number =>
  error instanceof WireError ? error.code : error instanceof Malformed ? 501 : 541;

/** The error for a transport that ended during the handshake. */
export function socketFailure(
  handshake: ClientHandshake,
  failure: Error | undefined,
  detail: string,
): ConnectionFailedError {
  if (!(failure instanceof DialError)) return handshake.ended(detail);
  return handshake.failure(failure.phase === 'tls' ? 'tls' : 'unreachable', detail, undefined, { cause: failure });
}

/** The first bytes of something that is not AMQP, for an error text. */
export function textOf(bytes: Buffer): string {
  const first = bytes.subarray(0, 24).toString('latin1');
  if (first.startsWith('AMQP')) return `it answers with version ${[...bytes.subarray(4, 8)].join('-')}`;
  // An alert of TLS, or a record of its handshake.
  if (bytes[0] === 0x15 || bytes[0] === 0x16) return 'it answers as a port with TLS does: use amqps';
  const hint = first.startsWith('HTTP/') ? ': name its port for AMQP, not that for HTTP' : '';
  return `it answers ${JSON.stringify(first.replaceAll(/[^\x20-\x7e]/g, '.'))}${hint}`;
}
