import type { Message } from '../message/index.js';
import { type Destination, Exchange } from './exchange/exchange.js';
import type { Queue } from './queue/queue.js';

/** Finds the queues of a message: all its keys, exchange-to-exchange bindings, alternate exchanges (rules G2 to G6). */
export class Routing {
  readonly #found = new Set<Destination>();
  readonly #queues = new Set<Queue>();

  constructor(readonly exchangeNamed: (name: string) => Exchange | undefined) {}

  /** @returns the queues, each once; valid until the next call */
  route(exchange: Exchange, message: Message): ReadonlySet<Queue> {
    if (!exchange.isPlain) return this.#routeOn(exchange, message);
    this.#ask(exchange, message);
    return this.#found as ReadonlySet<Queue>; // a plain exchange is bound to queues only
  }

  #ask(exchange: Exchange, message: Message): void {
    this.#found.clear();
    exchange.route(message, message.routingKey, this.#found);
    const copies = message.carbonCopies;
    if (copies === undefined) return;
    for (const key of copies.cc) exchange.route(message, key, this.#found);
    for (const key of copies.bcc) exchange.route(message, key, this.#found);
  }

  /** Each exchange is visited once, so loops of bindings or alternates end (rules G5, G6). */
  #routeOn(first: Exchange, message: Message): ReadonlySet<Queue> {
    this.#queues.clear();
    const visited = new Set([first]);
    for (const exchange of visited) {
      this.#ask(exchange, message);
      if (this.#found.size === 0 && exchange.alternate !== undefined) {
        const alternate = this.exchangeNamed(exchange.alternate);
        if (alternate !== undefined) visited.add(alternate);
      }
      for (const destination of this.#found) {
        if (destination instanceof Exchange) visited.add(destination);
        else this.#queues.add(destination);
      }
    }
    return this.#queues;
  }
}
