import { isDeepStrictEqual } from 'node:util';
import { AmqpError, checkEdited, type User, type VirtualHost } from '../../../engine/broker/index.js';
import { type Field, type FieldTable, type Message, messageOf } from '../../../engine/message/index.js';
import { type EditNote, isLockedHeader, withEditNote } from '../../../platform/history/index.js';
import { badRequest, detailOf } from '../../http/reply.js';
import type { Edit } from './edit-input.js';
import { lockedHeader } from './edit-order.js';

/**
 * The message that an edit makes of another one. The redrive removes the headers of deaths, retries and errors from it.
 * @param note what the headers say of the edit
 * @throws Problem 400 for a locked header, and if the user could not publish it: too large a body, the user id of another user, an
 *   expiration
 */
export function editedMessage(
  original: Message,
  edit: Edit,
  user: User,
  { profile }: VirtualHost,
  note: EditNote,
): Message {
  const own = edit.headers === undefined ? ownHeadersOf(original) : replacedHeaders(original, edit.headers);
  const headers = withEditNote(own, original, note);
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
export const ownHeadersOf = ({ own, notes }: Message): FieldTable | undefined =>
  notes === undefined ? own.headers : notes.withDelay(own.headers);

/**
 * Other headers in place of those of a message. Locked ones stay, and may be given as the message shows them.
 * @throws Problem 400 for a locked header with another value
 */
function replacedHeaders(original: Message, given: FieldTable): FieldTable {
  const shown = original.properties.headers;
  const headers = new Map<string, Field>();
  for (const [name, field] of given) {
    if (!isLockedHeader(name)) headers.set(name, field);
    else if (!isDeepStrictEqual(field, shown?.get(name))) throw lockedHeader(name);
  }
  for (const [name, field] of ownHeadersOf(original) ?? []) if (isLockedHeader(name)) headers.set(name, field);
  return headers;
}
