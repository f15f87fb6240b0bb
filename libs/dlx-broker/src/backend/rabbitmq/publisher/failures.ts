import { OverloadedError, RefusedError, ServerError, UnconfirmedError } from '../../errors.js';
import { ChannelClosedError, type ClientError, type ConnectionClosedError } from '../client/errors.js';
import type { Outgoing } from './outgoing.js';

const shown = ({ publication: { exchange, routingKey } }: Outgoing): string =>
  `a message to exchange '${exchange}' with routing key '${routingKey}'`;

/** The server closed a channel or the connection because of this publish. */
export function refusedBy(failure: ChannelClosedError | ConnectionClosedError, outgoing: Outgoing): ServerError {
  const text = failure instanceof ChannelClosedError ? failure.text : failure.message;
  const hint = failure.code === 403 ? '; give the user of rabbitmq() the right to write to it' : '';
  return new ServerError(`the server refused ${shown(outgoing)}: ${text}${hint}`, failure.code ?? 0, {
    cause: failure,
  });
}

/** The message cannot be written to the wire. */
export const unsendable = (outgoing: Outgoing, failure: ClientError): ServerError =>
  new ServerError(`${shown(outgoing)} cannot be sent: ${failure.message}`, 0, { cause: failure });

/** A queue refused the message (nack) for too long. */
export const refused = ({ publication: { exchange, routingKey } }: Outgoing): RefusedError =>
  new RefusedError(exchange, routingKey);

/**
 * The time of a publish is over.
 * @param when `within 30000 ms`
 * @param whyNot the reason if the message was never sent
 */
export function late(outgoing: Outgoing, when: string, whyNot: string): Error {
  if (outgoing.nacks > 0) return refused(outgoing);
  const what = `${shown(outgoing)} was not`;
  if (!outgoing.mayBeTaken) return new OverloadedError(`${what} sent ${when}: ${whyNot}`);
  return new UnconfirmedError(`${what} confirmed ${when}; whether a queue has it is unknown`);
}
