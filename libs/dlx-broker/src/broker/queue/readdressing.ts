import {
  compact,
  type DeathEntry,
  delayHeader,
  type Dialect,
  type Field,
  isClaimed,
  type Message,
  Notes,
  NotedMessage,
  type Properties,
  recordDeath,
} from '../../message/index.js';
import type { DeadLetter } from './dead-letter.js';

/**
 * Makes dead letters of the messages of one queue: death recorded, address and headers changed (section H of the
 * rules).
 */
export class Readdressing {
  // Messages die in crowds: what is noted about all that die alike within a second is noted once, and shared.
  #before: Notes | undefined;
  #death: DeathEntry | undefined;
  #after: Notes | undefined;

  constructor(readonly dialect: Dialect) {}

  /** The message a dead letter goes on as. */
  readdress(letter: DeadLetter): NotedMessage {
    const { message } = letter.entry;
    const own = ownAfter(letter, message);
    const notes = this.#notes(letter, message, own);
    const headers = notes.deaths?.own(own.headers);
    return new NotedMessage(
      letter.exchange,
      letter.routingKey ?? message.routingKey, // rule H1
      headers === own.headers ? own : { ...own, headers },
      message,
      notes,
    );
  }

  #notes(letter: DeadLetter, message: Message, own: Properties): Notes {
    const { notes: before } = message;
    const time = Math.floor(letter.time / 1000) * 1000;
    const copies = letter.routingKey === undefined ? before?.copies : undefined;
    const delay = before === undefined || letter.headers?.has(delayHeader) === true ? 0 : before.delay;
    const isShared = before?.deaths === undefined ? !isClaimed(own.headers, this.dialect) : before.deaths.isShared;
    const known = this.#after;
    if (isShared && known?.copies === copies && known?.delay === delay && this.#isKnown(letter, message, time)) {
      return known as Notes;
    }
    const death = deathOf(letter, message, time);
    const deaths = recordDeath(message, death, own.headers, this.dialect);
    const origin = message.origin?.queue === undefined ? originAt(message, letter.queue.name) : message.origin;
    const after = Notes.of(copies, origin, deaths, delay);
    if (isShared) {
      this.#before = before;
      this.#death = death;
      this.#after = after;
    }
    return after;
  }

  /** Whether the last one was noted as much about as this one, and died the same death. */
  #isKnown(letter: DeadLetter, message: Message, time: number): boolean {
    const known = this.#death;
    return (
      known !== undefined &&
      message.notes === this.#before &&
      time === known.time &&
      letter.reason === known.reason &&
      message.routingKey === known.routingKeys[0] &&
      message.exchange === known.exchange
    );
  }
}

/** Rule H5. */
function deathOf(letter: DeadLetter, message: Message, time: number): DeathEntry {
  const { routingKey, exchange, carbonCopies: copies } = message;
  const routingKeys = copies === undefined ? [routingKey] : [routingKey, ...copies.cc];
  return { queue: letter.queue.name, reason: letter.reason, exchange, routingKeys, count: 1, time };
}

/** At its first death a message stands where its publisher, whose right was checked, sent it. */
function originAt(message: Message, queue: string): Notes['origin'] {
  const { exchange, routingKey } = message.origin ?? message;
  return { exchange, routingKey, queue };
}

/** The message's own properties without CC keys that are not kept (rule H2), and with the headers of a rejection. */
function ownAfter(letter: DeadLetter, { own }: Message): Properties {
  const dropsCc = letter.routingKey !== undefined && own.headers?.has('CC') === true;
  if (!dropsCc && letter.headers === undefined) return own;
  const headers = new Map<string, Field>(own.headers);
  if (dropsCc) headers.delete('CC');
  for (const [name, value] of letter.headers ?? []) headers.set(name, value);
  return { ...own, headers: compact(headers) };
}
