import type { DeathReason, FieldTable, Message, NotedMessage } from '../../message/index.js';
import { countDeath } from '../counters.js';
import { DeadLetter } from './dead-letter.js';
import { Entry, type RetainedDeath } from './entry.js';
import { overflowPolicies } from './overflow.js';
import type { Queue } from './queue.js';
import type { QueueHome } from './queue-home.js';
import { Readdressing } from './readdressing.js';
import { Retained } from './retained.js';

/** The way out of a queue by a death: where there is a dead letter exchange, on to it. */
export class DeadLettering {
  readonly #queue: Queue;
  readonly #home: QueueHome;
  #retained: Retained | undefined;
  /** Made at the first death. */
  #readdressing: Readdressing | undefined;

  constructor(queue: Queue, home: QueueHome) {
    this.#queue = queue;
    this.#home = home;
  }

  /** At-least-once dead letters on their way (rule M3); undefined when there never were any. */
  get retained(): Retained | undefined {
    return this.#retained;
  }

  /** The entry has left the queue, or was refused by it. */
  die(entry: Entry, reason: DeathReason, now: number, headers?: FieldTable): void {
    const queue = this.#queue;
    const home = this.#home;
    countDeath(queue.counters, reason);
    countDeath(home.counters, reason);
    if (home.deathListeners.size > 0)
      for (const deathListener of home.deathListeners) deathListener(queue, entry.message, reason, now);
    const letter = this.#send(entry, reason, now, headers);
    if (letter?.retained === true) home.journal?.died(queue, entry, letter);
  }

  /** It had died before a restart, and the queue still has it; what is configured may be another exchange by now. */
  restore(entry: Entry, { reason, time, headers }: RetainedDeath): Entry {
    this.#send(entry, reason, time, headers);
    return entry;
  }

  /** A full queue refuses a message: with the right policy it dies without ever having been in the queue (rule C8). */
  refuse(message: Message, now: number): void {
    const { deadLetterExchange, overflow } = this.#queue.settings;
    if (!overflowPolicies[overflow].deadLettersRefused || deadLetterExchange === undefined) return;
    this.#home.journal?.detached?.(message);
    this.die(new Entry(message, 0, 0), 'maxlen', now);
  }

  /** The message a dead letter of this queue goes on as. */
  readdress(letter: DeadLetter): NotedMessage {
    this.#readdressing ??= new Readdressing(this.#home.profile.dialect);
    return this.#readdressing.readdress(letter);
  }

  /** A dead letter has arrived everywhere, or could not (rule M3). */
  finish(letter: DeadLetter, arrived: boolean, now: number): void {
    const { journal } = this.#home;
    if (!letter.retained) return journal?.settled(this.#queue, letter.entry);
    if (this.#retained === undefined || !this.#retained.has(letter)) return;
    if (!arrived) return this.#retained.strand(letter, now);
    this.#retained.release(letter);
    journal?.settled(this.#queue, letter.entry);
  }

  /** @returns undefined when there is nowhere to send it to */
  #send(entry: Entry, reason: DeathReason, time: number, headers: FieldTable | undefined): DeadLetter | undefined {
    const queue = this.#queue;
    const home = this.#home;
    const { deadLetterExchange, deadLetterRoutingKey: key, deadLetterStrategy } = queue.settings;
    if (deadLetterExchange === undefined) {
      home.journal?.settled(queue, entry); // rule A7
      return undefined;
    }
    const isRetained = deadLetterStrategy === 'at-least-once';
    const letter = new DeadLetter(queue, entry, reason, time, deadLetterExchange, key, headers, isRetained);
    if (isRetained) {
      this.#retained ??= new Retained(home.wakeups, home.dead, () => home.serve(queue));
      this.#retained.add(letter);
    }
    home.dead.push(letter);
    return letter;
  }

  /** The strategy is at-most-once now: what had not arrived yet is lost (rule M4). */
  forgetRetained(): void {
    for (const letter of this.#retained?.clear() ?? []) this.#home.journal?.settled(this.#queue, letter.entry);
  }
}
