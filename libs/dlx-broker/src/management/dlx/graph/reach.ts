import { type Destination, Exchange, exchangeTypes, type Queue, type VirtualHost } from '../../../broker/index.js';
import { Message, noProperties } from '../../../message/index.js';
import { anyKey, isAny, type Keys, oneKey, overlaps } from './keys.js';
import type { Wire, Wiring } from './wiring.js';

/** The queues a message gets to from an exchange; true when it surely does, whatever else is in the message. */
export type Reached = ReadonlyMap<Queue, boolean>;

const noBody = new Uint8Array();

/** Finds where messages of an exchange go when only their keys are known, as the engine routes them (section G). */
export class Reach {
  readonly #vhost: VirtualHost;
  readonly #known = new Map<string, Reached>();

  constructor(readonly wiring: Wiring) {
    this.#vhost = wiring.vhost;
  }

  /** Undefined when there is no such exchange. */
  from(name: string, keys: Keys): Reached | undefined {
    const exchange = this.#vhost.exchanges.get(name);
    if (exchange === undefined) return undefined;
    const place = JSON.stringify([name, keys.text, keys.isPattern]);
    let reached = this.#known.get(place);
    if (reached === undefined) this.#known.set(place, (reached = this.#walk(exchange, keys)));
    return reached;
  }

  /** Each exchange is visited once, and once more when it turns out that messages surely come there (rules G5, G6). */
  #walk(first: Exchange, keys: Keys): Reached {
    const queues = new Map<Queue, boolean>();
    const visited = new Map<Exchange, boolean>();
    const pending: [Exchange, boolean][] = [[first, true]];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [exchange, surely] = next;
      if (visited.get(exchange) === true || visited.get(exchange) === surely) continue;
      visited.set(exchange, surely);
      const found = this.#ask(exchange, keys);
      for (const [destination, fits] of this.#withAlternate(exchange, found)) {
        const isSure = surely && fits;
        if (destination instanceof Exchange) pending.push([destination, isSure]);
        else if (queues.get(destination) !== true) queues.set(destination, isSure);
      }
    }
    return queues;
  }

  /** An alternate exchange gets what finds nothing: perhaps, when something is found only perhaps. */
  #withAlternate(exchange: Exchange, found: Map<Destination, boolean>): ReadonlyMap<Destination, boolean> {
    const alternate = exchange.alternate === undefined ? undefined : this.#vhost.exchanges.get(exchange.alternate);
    if (alternate === undefined || [...found.values()].includes(true)) return found;
    return found.set(alternate, found.size === 0 && !decidesOtherwise(exchange));
  }

  #ask(exchange: Exchange, keys: Keys): Map<Destination, boolean> {
    if (decidesOtherwise(exchange)) return collect(this.wiring.from(exchange), () => false);
    if (exchangeTypes.get(exchange.routingType)?.keys === 'any' || !keys.isPattern)
      return this.#route(exchange, keys.text);
    if (exchange.name === '') return this.#queuesNamed(keys);
    return collect(this.wiring.from(exchange), (wire) => fit(keys, wire.keys));
  }

  /** By the engine's own router, which has an index. */
  #route(exchange: Exchange, key: string): Map<Destination, boolean> {
    const found = new Set<Destination>();
    exchange.router.route(new Message(exchange.name, key, noProperties, noBody), key, found);
    return new Map([...found].map((destination) => [destination, true]));
  }

  #queuesNamed(keys: Keys): Map<Destination, boolean> {
    const found = new Map<Destination, boolean>();
    for (const queue of this.#vhost.queues.values()) {
      if (overlaps(keys, oneKey(queue.name))) found.set(queue, false);
    }
    return found;
  }
}

/** Whether something else than the routing key decides who gets a message: headers, for example. */
const decidesOtherwise = ({ routingType }: Exchange): boolean => exchangeTypes.get(routingType)?.keys === 'other';

/** @param fits whether messages surely pass; undefined for never */
function collect(wires: readonly Wire[], fits: (wire: Wire) => boolean | undefined): Map<Destination, boolean> {
  const found = new Map<Destination, boolean>();
  for (const wire of wires) {
    if (found.get(wire.destination) === true) continue;
    const answer = fits(wire);
    if (answer !== undefined) found.set(wire.destination, answer);
  }
  return found;
}

function fit(keys: Keys, binding: Keys): boolean | undefined {
  if (isAny(binding)) return true;
  if (binding.isPattern && binding.text === keys.text) return true;
  return keys === anyKey || overlaps(keys, binding) ? false : undefined;
}
