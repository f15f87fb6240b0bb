import { AmqpError, checkEdited, type User, type VirtualHost } from '../../../broker/index.js';
import { type Field, type FieldTable, type Message, messageOf } from '../../../message/index.js';
import { retryHeaders } from '../../../history/index.js';
import { badRequest, detailOf } from '../../http/reply.js';
import type { Edit } from './edit-input.js';

/**
 * The message that an edit makes of another one. The redrive removes the headers of deaths, retries and errors from it.
 * @throws Problem 400 if the user could not publish it: too large a body, the user id of another user, an expiration
 */
export function editedMessage(original: Message, edit: Edit, user: User, { profile }: VirtualHost): Message {
  const headers = edit.headers === undefined ? ownHeadersOf(original) : withCountOf(original, edit.headers);
  const properties = { ...original.properties, ...edit.properties, headers };
  const { exchange, routingKey } = original;
  const message = messageOf(exchange, routingKey, properties, edit.body ?? original, undefined);
  try {
    checkEdited(message, user, profile.maxMessageSize);
  } catch (error) {
    if (!(error instanceof AmqpError)) throw error;
    throw badRequest(`${detailOf(error)}; null in 'properties' removes a property`);
  }
  return message;
}

/** The headers of the message itself, without those of its deaths. */
const ownHeadersOf = ({ own, notes }: Message): FieldTable | undefined =>
  notes === undefined ? own.headers : notes.withDelay(own.headers);

/** Headers with the number of redrives of the original, whatever the edit says. */
function withCountOf({ own }: Message, edited: FieldTable): FieldTable {
  const headers = new Map<string, Field>(edited);
  const redrives = own.headers?.get(retryHeaders.redrives);
  if (redrives === undefined) headers.delete(retryHeaders.redrives);
  else headers.set(retryHeaders.redrives, redrives);
  return headers;
}
