import type { Destination, Exchange, Queue, VirtualHost } from '../../../engine/broker/index.js';
import type { FieldTable } from '../../../engine/message/index.js';
import { KeyIndex } from './key-index.js';
import { anyKey, isAny, type Keys, keysOf, oneKey } from './keys.js';

/** A binding, with its source exchange. */
export interface IndexedBinding {
  readonly exchange: Exchange;
  readonly destination: Destination;
  readonly bindingKey: string;
  readonly arguments: FieldTable;
  /** The routing keys that pass the binding. */
  readonly keys: Keys;
}

/** An index of all bindings of a virtual host, by source and by destination, as they were when it was made. */
export class BindingIndex {
  readonly #from = new Map<Exchange, readonly IndexedBinding[]>();
  readonly #into = new Map<Destination, IndexedBinding[]>();
  /** Made when it is needed: few exchanges are asked for patterns. */
  readonly #indexes = new Map<Exchange, KeyIndex<IndexedBinding>>();

  private constructor(readonly vhost: VirtualHost) {}

  /** Indexes all bindings; yields after each. */
  static *of(vhost: VirtualHost): Generator<void, BindingIndex, void> {
    const bindingIndex = new BindingIndex(vhost);
    const found = [...vhost.exchanges.values()].map((exchange) => ({ exchange, bindings: exchange.bindings() }));
    for (const { exchange, bindings } of found) {
      const indexed: IndexedBinding[] = [];
      bindingIndex.#from.set(exchange, indexed);
      for (const { destination, bindingKey, arguments: args } of bindings) {
        const keys = keysOf(exchange.routingType, bindingKey);
        bindingIndex.#add({ exchange, destination, bindingKey, arguments: args, keys }, indexed);
        yield;
      }
    }
    return bindingIndex;
  }

  #add(binding: IndexedBinding, from: IndexedBinding[]): void {
    from.push(binding);
    const into = this.#into.get(binding.destination);
    if (into === undefined) this.#into.set(binding.destination, [binding]);
    else into.push(binding);
  }

  from(exchange: Exchange): readonly IndexedBinding[] {
    return this.#from.get(exchange) ?? [];
  }

  /** Lists with all bindings of an exchange that some of the keys may pass. Yields after each binding that is indexed. */
  *candidates(exchange: Exchange, keys: Keys): Generator<void, readonly (readonly IndexedBinding[])[], void> {
    let index = this.#indexes.get(exchange);
    if (index === undefined) {
      index = new KeyIndex<IndexedBinding>();
      for (const binding of this.from(exchange)) {
        index.add(binding, binding.keys);
        yield;
      }
      this.#indexes.set(exchange, index);
    }
    return index.candidates(keys);
  }

  into(destination: Destination): readonly IndexedBinding[] {
    return this.#into.get(destination) ?? [];
  }
}

/** The routing keys with which messages reach a queue: those of its bindings, and its name for the default exchange. */
export function keysInto(queue: Queue, bindingIndex: BindingIndex): readonly Keys[] {
  const keys = new Map<string, Keys>([[`=${queue.name}`, oneKey(queue.name)]]);
  for (const { keys: key } of bindingIndex.into(queue)) {
    if (isAny(key)) return [anyKey];
    keys.set(`${key.isPattern ? '~' : '='}${key.text}`, key);
  }
  return [...keys.values()];
}
