import { type Destination, Exchange, exchangeTypes, type Queue, type VirtualHost } from '../../../broker/index.js';
import { Message, noProperties } from '../../../message/index.js';
import { anyKey, isAny, type Keys, oneKey, overlaps } from './keys.js';
import type { Wire, Wiring } from './wiring.js';

/** Whether every message with certain keys gets somewhere, or whether that depends on its key or its headers. */
export type Certainty = 'always' | 'sometimes';

/** The queues that messages with certain keys reach. */
export type Reached = ReadonlyMap<Queue, Certainty>;

export const nowhere: Reached = new Map();

const emptyBody = new Uint8Array();

/** Finds where messages of an exchange go when only their keys are known, as the engine routes them (section G). */
export class Reach {
  readonly #vhost: VirtualHost;
  readonly #known = new Map<string, Reached>();
  /** Whether a fanout exchange is bound to queues only. */
  readonly #fanouts = new Map<Exchange, boolean>();

  constructor(readonly wiring: Wiring) {
    this.#vhost = wiring.vhost;
  }

  /** Undefined when there is no such exchange. */
  from(name: string, keys: Keys): Reached | undefined {
    const exchange = this.#vhost.exchanges.get(name);
    if (exchange === undefined) return undefined;
    // Messages of a fanout exchange reach the same queues with any key, and share one result.
    const place = JSON.stringify(this.#isPlainFanout(exchange) ? [name] : [name, keys.text, keys.isPattern]);
    let reached = this.#known.get(place);
    if (reached === undefined) this.#known.set(place, (reached = this.#walk(exchange, keys)));
    return reached;
  }

  #isPlainFanout(exchange: Exchange): boolean {
    if (exchangeTypes.get(exchange.routingType)?.keys !== 'any') return false;
    let isPlain = this.#fanouts.get(exchange);
    if (isPlain === undefined) {
      const wires = this.wiring.from(exchange);
      isPlain = wires.length > 0 && wires.every(({ destination }) => !(destination instanceof Exchange));
      this.#fanouts.set(exchange, isPlain);
    }
    return isPlain;
  }

  /** Visits each exchange once, and once more if it was reached sometimes and is reached always (rules G5, G6). */
  #walk(first: Exchange, keys: Keys): Reached {
    const queues = new Map<Queue, Certainty>();
    const visited = new Map<Exchange, Certainty>();
    const pending: [Exchange, Certainty][] = [[first, 'always']];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [exchange, certainty] = next;
      const before = visited.get(exchange);
      if (before === 'always' || before === certainty) continue;
      visited.set(exchange, certainty);
      for (const [destination, matches] of this.#withAlternate(exchange, this.#destinations(exchange, keys))) {
        const reached = certainty === 'always' ? matches : 'sometimes';
        if (destination instanceof Exchange) pending.push([destination, reached]);
        else if (queues.get(destination) !== 'always') queues.set(destination, reached);
      }
    }
    return queues;
  }

  /** Adds the alternate exchange, which gets a message that the exchange cannot route. */
  #withAlternate(exchange: Exchange, found: Map<Destination, Certainty>): ReadonlyMap<Destination, Certainty> {
    const alternate = exchange.alternate === undefined ? undefined : this.#vhost.exchanges.get(exchange.alternate);
    if (alternate === undefined || [...found.values()].includes('always')) return found;
    return found.set(alternate, found.size === 0 && !ignoresKeys(exchange) ? 'always' : 'sometimes');
  }

  #destinations(exchange: Exchange, keys: Keys): Map<Destination, Certainty> {
    if (ignoresKeys(exchange)) return collect(this.wiring.from(exchange), () => 'sometimes');
    if (exchangeTypes.get(exchange.routingType)?.keys === 'any' || !keys.isPattern)
      return this.#route(exchange, keys.text);
    if (exchange.name === '') return this.#queuesNamed(keys);
    return collect(this.wiring.from(exchange), (wire) => matchOf(keys, wire.keys));
  }

  /** By the engine's own router, which has an index. */
  #route(exchange: Exchange, key: string): Map<Destination, Certainty> {
    const found = new Set<Destination>();
    exchange.router.route(new Message(exchange.name, key, noProperties, emptyBody), key, found);
    return new Map([...found].map((destination) => [destination, 'always']));
  }

  #queuesNamed(keys: Keys): Map<Destination, Certainty> {
    const found = new Map<Destination, Certainty>();
    for (const queue of this.#vhost.queues.values()) {
      if (overlaps(keys, oneKey(queue.name))) found.set(queue, 'sometimes');
    }
    return found;
  }
}

/** True if an exchange routes by something else than the routing key, such as headers. */
const ignoresKeys = ({ routingType }: Exchange): boolean => exchangeTypes.get(routingType)?.keys === 'other';

/** @param match which messages pass a binding; undefined: none */
function collect(wires: readonly Wire[], match: (wire: Wire) => Certainty | undefined): Map<Destination, Certainty> {
  const found = new Map<Destination, Certainty>();
  for (const wire of wires) {
    if (found.get(wire.destination) === 'always') continue;
    const certainty = match(wire);
    if (certainty !== undefined) found.set(wire.destination, certainty);
  }
  return found;
}

function matchOf(keys: Keys, binding: Keys): Certainty | undefined {
  if (isAny(binding)) return 'always';
  if (binding.isPattern && binding.text === keys.text) return 'always';
  return keys === anyKey || overlaps(keys, binding) ? 'sometimes' : undefined;
}
