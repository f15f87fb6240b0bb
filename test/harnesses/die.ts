import { profiles } from '../../libs/dlx-broker/src/engine/broker/index.js';
import {
  type DeathEntry,
  type Dialect,
  type Message,
  NotedMessage,
  Notes,
  recordDeath,
} from '../../libs/dlx-broker/src/engine/message/index.js';

/** The dead letter of a message, under the same address. */
export function die(message: Message, death: DeathEntry, dialect: Dialect = profiles['3.10']): NotedMessage {
  const { exchange, routingKey, own, carbonCopies, origin, notes } = message;
  const deaths = recordDeath(message, death, own.headers, dialect);
  const after = { ...own, headers: deaths.own(own.headers) };
  return new NotedMessage(
    exchange,
    routingKey,
    after,
    message,
    Notes.of(carbonCopies, origin, deaths, notes?.delay ?? 0),
  );
}
