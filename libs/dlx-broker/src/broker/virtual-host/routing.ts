import type { Message } from '../../message/index.js';
import { delayOf } from '../exchange/delay.js';
import { type Destination, Exchange } from '../exchange/exchange.js';
import type { DelayedMessages } from '../exchange/delayed-messages.js';
import { Recipients } from '../exchange/recipients.js';
import type { Queue } from '../queue/queue.js';

const none: readonly DelayedMessages[] = [];

/** A deleted one is not found any more, though its router may still be forgetting its bindings. */
class Found extends Recipients<Destination> {
  override add(destination: Destination): void {
    if (!destination.deleted) super.add(destination);
  }
}

/** Finds the queues of a message: all its keys, exchange-to-exchange bindings, alternate exchanges (rules G2 to G6). */
export class Routing {
  readonly #found = new Found();
  readonly #queues = new Recipients<Queue>();
  #holds: readonly DelayedMessages[] = none;

  constructor(readonly exchangeNamed: (name: string) => Exchange | undefined) {}

  /** Of the delayed exchanges on the way of the last message those that hold it back. */
  get holds(): readonly DelayedMessages[] {
    return this.#holds;
  }

  /** @returns the queues, each once; valid until the next call */
  route(exchange: Exchange, message: Message): readonly Queue[] {
    this.#holds = none;
    if (exchange.hold !== undefined && delayOf(message) > 0) {
      this.#holds = [exchange.hold];
      return [];
    }
    if (!exchange.isPlain) return this.#routeOn(exchange, message);
    this.#ask(exchange, message);
    return this.#found.all as readonly Queue[]; // a plain exchange is bound to queues only
  }

  #ask(exchange: Exchange, message: Message): void {
    this.#found.clear();
    exchange.route(message, message.routingKey, this.#found);
    const copies = message.carbonCopies;
    if (copies === undefined || exchange.ignoresKeys) return;
    for (const key of copies.cc) exchange.route(message, key, this.#found);
    for (const key of copies.bcc) exchange.route(message, key, this.#found);
  }

  /** Each exchange is visited once, so loops of bindings or alternates end (rules G5, G6). */
  #routeOn(first: Exchange, message: Message): readonly Queue[] {
    this.#queues.clear();
    const visited = new Set([first]);
    for (const exchange of visited) {
      if (exchange.hold !== undefined && delayOf(message) > 0) {
        this.#holds = [...this.#holds, exchange.hold];
        continue;
      }
      this.#ask(exchange, message);
      if (this.#found.isEmpty && exchange.alternate !== undefined) {
        const alternate = this.exchangeNamed(exchange.alternate);
        if (alternate !== undefined) visited.add(alternate);
      }
      for (const destination of this.#found.all) {
        if (destination instanceof Exchange) visited.add(destination);
        else this.#queues.add(destination);
      }
    }
    return this.#queues.all;
  }
}
