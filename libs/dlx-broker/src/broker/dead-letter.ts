import { changeHeaders, DeadLetteredMessage, type Dialect, type FieldTable } from '../message/index.js';
import { recordDeath, recordedAddressOf } from '../message/index.js';
import type { Message, Properties, RecordedOrigin } from '../message/index.js';
import type { DeadLetter } from './queue/dead-letter.js';

/** All that the headers of a dead letter depend on, and what they are. No message is kept alive by it. */
interface Known {
  readonly own: FieldTable | undefined;
  readonly expiration: string | undefined;
  readonly hasDied: boolean;
  readonly exchange: string;
  readonly routingKey: string;
  readonly queue: string;
  readonly reason: string;
  readonly keepsKey: boolean;
  /** In seconds. */
  readonly time: number;
  readonly headers: FieldTable;
  /** The last properties these headers were put into, before and after. */
  before: Properties;
  after: Properties;
}

/** Makes dead letters of messages: their death recorded, their address and headers changed (section H of the rules). */
export class Readdressing {
  /** Messages die in crowds: what is written about all that die alike within a second is written once, and shared. */
  #last: Known | undefined;
  /** The last origin that was recorded. */
  #origin: RecordedOrigin = { exchange: '', routingKey: '', queue: '' };

  constructor(readonly dialect: Dialect) {}

  /** The message a dead letter goes on as. */
  readdress(letter: DeadLetter): DeadLetteredMessage {
    const { message } = letter.entry;
    return new DeadLetteredMessage(
      letter.exchange,
      letter.routingKey ?? message.routingKey, // rule H1
      this.#properties(letter, message),
      message,
      letter.routingKey === undefined ? message.carbonCopies : undefined,
      message.origin?.queue === undefined ? this.#recorded(message, letter.queue.name) : message.origin,
    );
  }

  /** At its first death a message stands where its publisher, whose right was checked, sent it. */
  #recorded(message: Message, queue: string): RecordedOrigin {
    const { exchange, routingKey } = recordedAddressOf(message);
    const known = this.#origin;
    if (known.queue === queue && known.routingKey === routingKey && known.exchange === exchange) return known;
    return (this.#origin = { exchange, routingKey, queue });
  }

  #properties(letter: DeadLetter, message: Message): Properties {
    const time = Math.floor(letter.time / 1000);
    const before = message.properties;
    const known = this.#last;
    if (known === undefined || !isAlike(known, letter, message, time)) return this.#write(letter, message, time);
    if (known.before !== before) {
      known.before = before;
      known.after = changed(before, known.headers);
    }
    return known.after;
  }

  #write(letter: DeadLetter, message: Message, time: number): Properties {
    const { properties: before, hasDied, exchange, routingKey } = message;
    const headers = this.#headers(letter, message, time);
    const after = changed(before, headers);
    if (message.carbonCopies === undefined && letter.headers === undefined) {
      const { queue, reason } = letter;
      const death = { hasDied, exchange, routingKey, queue: queue.name, reason, time };
      const keepsKey = letter.routingKey === undefined;
      this.#last = { own: before.headers, expiration: before.expiration, ...death, keepsKey, headers, before, after };
    }
    return after;
  }

  #headers(letter: DeadLetter, message: Message, time: number): FieldTable {
    const { dialect } = this;
    const { expiration } = message.properties;
    const copies = message.carbonCopies;
    const death = {
      queue: letter.queue.name,
      reason: letter.reason,
      exchange: message.exchange,
      routingKeys: copies === undefined ? [message.routingKey] : [message.routingKey, ...copies.cc],
      time,
      originalExpiration: dialect.parsesExpiration ? parsed(expiration) : expiration,
    };
    return recordDeath(headersBefore(letter), death, dialect, message.hasDied);
  }
}

const isAlike = (known: Known, letter: DeadLetter, message: Message, time: number): boolean =>
  message.properties.headers === known.own &&
  time === known.time &&
  letter.queue.name === known.queue &&
  letter.reason === known.reason &&
  message.routingKey === known.routingKey &&
  message.exchange === known.exchange &&
  message.properties.expiration === known.expiration &&
  message.hasDied === known.hasDied &&
  (letter.routingKey === undefined) === known.keepsKey &&
  message.carbonCopies === undefined &&
  letter.headers === undefined;

/** Rule H3. */
const changed = (before: Properties, headers: FieldTable): Properties => ({
  ...before,
  headers,
  expiration: undefined,
});

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
