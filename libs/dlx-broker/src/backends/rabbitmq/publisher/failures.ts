import { stackless } from '../../../platform/index.js';
import type { Publication } from '../../backend.js';
import {
  ConnectionLostError,
  OverloadedError,
  RefusedError,
  ServerError,
  UnconfirmedError,
  UnroutableError,
} from '../../errors.js';
import {
  type ChannelClosedError,
  type ClientError,
  ConnectionClosedError,
  type ReturnedError,
} from '../../../amqp/client/index.js';
import type { Outgoing } from './outgoing.js';

const shown = ({ exchange, routingKey }: Publication): string =>
  `a message to exchange '${exchange}' with routing key '${routingKey}'`;

/** The server returned a message, or closed a channel or the connection because of it. */
export function refusedBy(
  failure: ReturnedError | ChannelClosedError | ConnectionClosedError,
  publication: Publication,
): ServerError {
  const text = failure instanceof ConnectionClosedError ? failure.message : failure.text;
  const hint = failure.code === 403 ? '; give the user of rabbitmq() the right to write to it' : '';
  return new ServerError(`the server refused ${shown(publication)}: ${text}${hint}`, failure.code ?? 0, {
    cause: failure,
  });
}

/** The message cannot be written to the wire. */
export const unsendable = (publication: Publication, failure: ClientError): ServerError =>
  new ServerError(`${shown(publication)} cannot be sent: ${failure.message}`, 0, { cause: failure });

/** A queue refused the message (nack) for too long. */
export const refused = ({ exchange, routingKey }: Publication): RefusedError =>
  stackless(() => new RefusedError(exchange, routingKey));

/** A mandatory message reached no queue. */
export const unroutable = ({ exchange, routingKey }: Publication): UnroutableError =>
  stackless(() => new UnroutableError(exchange, routingKey));

/**
 * The time of a publish is over.
 * @param when `within 30000 ms`
 * @param whyNot the reason if the message was never sent
 */
export function late(outgoing: Outgoing, when: string, whyNot: string, isConnected: boolean): Error {
  if (outgoing.nacks > 0) return refused(outgoing.publication);
  const what = `${shown(outgoing.publication)} was not`;
  const text = `${what} sent ${when}: ${whyNot}`;
  if (!outgoing.mayBeTaken && !isConnected)
    return stackless(() => new ConnectionLostError(`not connected: ${text}`, false));
  if (!outgoing.mayBeTaken) return stackless(() => new OverloadedError(text));
  return stackless(() => new UnconfirmedError(`${what} confirmed ${when}; whether a queue has it is unknown`));
}
