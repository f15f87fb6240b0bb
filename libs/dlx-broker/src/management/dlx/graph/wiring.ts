import type { Destination, Exchange, VirtualHost } from '../../../broker/index.js';
import type { FieldTable } from '../../../message/index.js';
import { type Keys, keysOf } from './keys.js';

/** One binding, with the exchange it begins at. */
export interface Wire {
  readonly exchange: Exchange;
  readonly destination: Destination;
  readonly bindingKey: string;
  readonly arguments: FieldTable;
  /** What it lets through. */
  readonly keys: Keys;
}

/** All bindings of a virtual host, by both ends; collected once, for they are asked for again and again. */
export class Wiring {
  readonly #from = new Map<Exchange, readonly Wire[]>();
  readonly #into = new Map<Destination, Wire[]>();

  constructor(readonly vhost: VirtualHost) {
    for (const exchange of vhost.exchanges.values()) {
      const wires = exchange
        .bindings()
        .map((binding) => ({ ...binding, exchange, keys: keysOf(exchange.routingType, binding.bindingKey) }));
      this.#from.set(exchange, wires);
      for (const wire of wires) {
        const into = this.#into.get(wire.destination);
        if (into === undefined) this.#into.set(wire.destination, [wire]);
        else into.push(wire);
      }
    }
  }

  from(exchange: Exchange): readonly Wire[] {
    return this.#from.get(exchange) ?? [];
  }

  into(destination: Destination): readonly Wire[] {
    return this.#into.get(destination) ?? [];
  }
}
