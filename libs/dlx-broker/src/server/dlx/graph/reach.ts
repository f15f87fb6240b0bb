import {
  type Destination,
  Exchange,
  exchangeTypes,
  type Queue,
  type VirtualHost,
} from '../../../engine/broker/index.js';
import { Message, emptyBody, noProperties } from '../../../engine/message/index.js';
import {
  anyKey,
  type BindingIndex,
  type IndexedBinding,
  isAny,
  KeyIndex,
  type Keys,
  oneKey,
  overlaps,
} from './binding-index.js';

/** Whether every message with certain keys gets somewhere, or whether that depends on its key or its headers. */
export type Certainty = 'always' | 'sometimes';

/** The queues that messages with certain keys reach. */
export type Reached = ReadonlyMap<Queue, Certainty>;

export const nowhere: Reached = new Map();

/** Finds where messages of an exchange go when only their keys are known, as the engine routes them (section G). */
export class Reach {
  readonly #vhost: VirtualHost;
  readonly #known = new Map<string, Reached>();
  #queuesByName: KeyIndex<Queue> | undefined;
  /** Whether a fanout exchange is bound to queues only. */
  readonly #fanouts = new Map<Exchange, boolean>();

  constructor(readonly bindingIndex: BindingIndex) {
    this.#vhost = bindingIndex.vhost;
  }

  /** Undefined when there is no such exchange. Yields wherever it may pause. */
  *from(name: string, keys: Keys): Generator<void, Reached | undefined, void> {
    const exchange = this.#vhost.exchanges.get(name);
    if (exchange === undefined) return undefined;
    // Messages of a fanout exchange reach the same queues with any key, and share one result.
    const place = JSON.stringify(this.#isPlainFanout(exchange) ? [name] : [name, keys.text, keys.isPattern]);
    let reached = this.#known.get(place);
    if (reached === undefined) this.#known.set(place, (reached = yield* this.#walk(exchange, keys)));
    return reached;
  }

  #isPlainFanout(exchange: Exchange): boolean {
    if (exchangeTypes.get(exchange.routingType)?.keys !== 'any') return false;
    let isPlain = this.#fanouts.get(exchange);
    if (isPlain === undefined) {
      const indexed = this.bindingIndex.from(exchange);
      isPlain = indexed.length > 0 && indexed.every(({ destination }) => !(destination instanceof Exchange));
      this.#fanouts.set(exchange, isPlain);
    }
    return isPlain;
  }

  /** Visits each exchange once, and once more if it was reached sometimes and is reached always (rules G5, G6). */
  *#walk(first: Exchange, keys: Keys): Generator<void, Reached, void> {
    const queues = new Map<Queue, Certainty>();
    const visited = new Map<Exchange, Certainty>();
    const pending: [Exchange, Certainty][] = [[first, 'always']];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [exchange, certainty] = next;
      const before = visited.get(exchange);
      if (before === 'always' || before === certainty) continue;
      visited.set(exchange, certainty);
      const found = yield* this.#destinations(exchange, keys);
      for (const [destination, matches] of this.#withAlternate(exchange, found)) {
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

  *#destinations(exchange: Exchange, keys: Keys): Generator<void, Map<Destination, Certainty>, void> {
    if (ignoresKeys(exchange)) return yield* collect([this.bindingIndex.from(exchange)], () => 'sometimes');
    if (exchangeTypes.get(exchange.routingType)?.keys === 'any' || !keys.isPattern)
      return this.#route(exchange, keys.text);
    if (exchange.name === '') return yield* this.#queuesNamed(keys);
    const indexed = yield* this.bindingIndex.candidates(exchange, keys);
    return yield* collect(indexed, (binding) => matchOf(keys, binding.keys));
  }

  /** By the engine's own router, which has an index. */
  #route(exchange: Exchange, key: string): Map<Destination, Certainty> {
    const found = new Set<Destination>();
    exchange.router.route(new Message(exchange.name, key, noProperties, emptyBody), key, found);
    return new Map([...found].map((destination) => [destination, 'always']));
  }

  *#queuesNamed(keys: Keys): Generator<void, Map<Destination, Certainty>, void> {
    const found = new Map<Destination, Certainty>();
    for (const list of (yield* this.#names()).candidates(keys)) {
      for (const queue of list) {
        if (overlaps(keys, oneKey(queue.name))) found.set(queue, 'sometimes');
        yield;
      }
    }
    return found;
  }

  /** The queues by their names, which are their keys in the default exchange. */
  *#names(): Generator<void, KeyIndex<Queue>, void> {
    if (this.#queuesByName !== undefined) return this.#queuesByName;
    const index = new KeyIndex<Queue>();
    for (const queue of this.#vhost.queues.values()) {
      index.add(queue, oneKey(queue.name));
      yield;
    }
    return (this.#queuesByName = index);
  }
}

/** True if an exchange routes by something else than the routing key, such as headers. */
const ignoresKeys = ({ routingType }: Exchange): boolean => exchangeTypes.get(routingType)?.keys === 'other';

/** Yields after each binding. @param match which messages pass a binding; undefined: none */
function* collect(
  lists: readonly (readonly IndexedBinding[])[],
  match: (binding: IndexedBinding) => Certainty | undefined,
): Generator<void, Map<Destination, Certainty>, void> {
  const found = new Map<Destination, Certainty>();
  for (const indexed of lists) {
    for (const binding of indexed) {
      yield;
      if (found.get(binding.destination) === 'always') continue;
      const certainty = match(binding);
      if (certainty !== undefined) found.set(binding.destination, certainty);
    }
  }
  return found;
}

function matchOf(keys: Keys, binding: Keys): Certainty | undefined {
  if (isAny(binding)) return 'always';
  if (binding.isPattern && binding.text === keys.text) return 'always';
  return keys === anyKey || overlaps(keys, binding) ? 'sometimes' : undefined;
}
