import type { Destination, Exchange, Queue, VirtualHost } from '../../../broker/index.js';
import type { FieldTable } from '../../../message/index.js';
import { KeyIndex } from './key-index.js';
import { anyKey, isAny, type Keys, keysOf, oneKey } from './keys.js';

/** A binding, with its source exchange. */
export interface Wire {
  readonly exchange: Exchange;
  readonly destination: Destination;
  readonly bindingKey: string;
  readonly arguments: FieldTable;
  /** The routing keys that pass the binding. */
  readonly keys: Keys;
}

/** An index of all bindings of a virtual host, by source and by destination, as they were when it was made. */
export class Wiring {
  readonly #from = new Map<Exchange, readonly Wire[]>();
  readonly #into = new Map<Destination, Wire[]>();
  /** Made when it is needed: few exchanges are asked for patterns. */
  readonly #indexes = new Map<Exchange, KeyIndex<Wire>>();

  private constructor(readonly vhost: VirtualHost) {}

  /** Indexes all bindings; yields after each. */
  static *of(vhost: VirtualHost): Generator<void, Wiring, void> {
    const wiring = new Wiring(vhost);
    const found = [...vhost.exchanges.values()].map((exchange) => ({ exchange, bindings: exchange.bindings() }));
    for (const { exchange, bindings } of found) {
      const wires: Wire[] = [];
      wiring.#from.set(exchange, wires);
      for (const { destination, bindingKey, arguments: args } of bindings) {
        const keys = keysOf(exchange.routingType, bindingKey);
        wiring.#add({ exchange, destination, bindingKey, arguments: args, keys }, wires);
        yield;
      }
    }
    return wiring;
  }

  #add(wire: Wire, from: Wire[]): void {
    from.push(wire);
    const into = this.#into.get(wire.destination);
    if (into === undefined) this.#into.set(wire.destination, [wire]);
    else into.push(wire);
  }

  from(exchange: Exchange): readonly Wire[] {
    return this.#from.get(exchange) ?? [];
  }

  /** Lists with all bindings of an exchange that some of the keys may pass. Yields after each binding that is indexed. */
  *candidates(exchange: Exchange, keys: Keys): Generator<void, readonly (readonly Wire[])[], void> {
    let index = this.#indexes.get(exchange);
    if (index === undefined) {
      index = new KeyIndex<Wire>();
      for (const wire of this.from(exchange)) {
        index.add(wire, wire.keys);
        yield;
      }
      this.#indexes.set(exchange, index);
    }
    return index.candidates(keys);
  }

  into(destination: Destination): readonly Wire[] {
    return this.#into.get(destination) ?? [];
  }
}

/** The routing keys with which messages reach a queue: those of its bindings, and its name for the default exchange. */
export function keysInto(queue: Queue, wiring: Wiring): readonly Keys[] {
  const keys = new Map<string, Keys>([[`=${queue.name}`, oneKey(queue.name)]]);
  for (const { keys: key } of wiring.into(queue)) {
    if (isAny(key)) return [anyKey];
    keys.set(`${key.isPattern ? '~' : '='}${key.text}`, key);
  }
  return [...keys.values()];
}
