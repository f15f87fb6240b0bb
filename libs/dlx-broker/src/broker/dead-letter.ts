import { changeHeaders, DeadLetteredMessage, type Dialect, type FieldTable, recordDeath } from '../message/index.js';
import type { DeadLetter } from './queue/dead-letter.js';

/** The message a dead letter goes on as: its death recorded, its address and headers changed (section H of the rules). */
export function readdress(letter: DeadLetter, dialect: Dialect): DeadLetteredMessage {
  const { message } = letter.entry;
  const { properties } = message;
  const copies = message.carbonCopies;
  const keys = copies === undefined ? [message.routingKey] : [message.routingKey, ...copies.cc];
  const death = {
    queue: letter.queue.name,
    reason: letter.reason,
    exchange: message.exchange,
    routingKeys: keys,
    time: Math.floor(letter.time / 1000),
    originalExpiration: dialect.parsesExpiration ? parsed(properties.expiration) : properties.expiration,
  };
  const headers = recordDeath(headersBefore(letter), death, dialect, message.hasDied);
  return new DeadLetteredMessage(
    letter.exchange,
    letter.routingKey ?? message.routingKey, // rule H1
    { ...properties, headers, expiration: undefined }, // rule H3
    message,
    letter.routingKey === undefined ? copies : undefined,
  );
}

const parsed = (expiration: string | undefined): number | undefined =>
  expiration === undefined ? undefined : Number(expiration);

function headersBefore(letter: DeadLetter): FieldTable | undefined {
  const { headers } = letter.entry.message.properties;
  const dropsCc = letter.routingKey !== undefined && headers !== undefined && headers.has('CC'); // rule H2
  if (!dropsCc && letter.headers === undefined) return headers;
  return changeHeaders(headers, (own) => {
    if (dropsCc) own.delete('CC');
    if (letter.headers !== undefined) for (const [name, value] of letter.headers) own.set(name, value);
  });
}
