import type { Message } from '../../message/index.js';
import { type Binding, Destinations, type Into, type Router } from './router.js';

/** The default exchange: the key is the name of a queue (rules G7, O7). Its bindings are the queues themselves. */
export class DefaultRouter<Destination> implements Router<Destination> {
  readonly #find: (name: string) => Destination | undefined;

  /** @param find finds a queue by name */
  constructor(find: (name: string) => Destination | undefined) {
    this.#find = find;
  }

  /** Does nothing: callers refuse to bind the default exchange (rule P3). */
  bind(): void {}

  unbind(): void {}

  route(_message: Message, routingKey: string, into: Into<Destination>): void {
    const destination = this.#find(routingKey);
    if (destination !== undefined) into.add(destination);
  }
}

/** The binding key is the routing key. */
export class DirectRouter<Destination> implements Router<Destination> {
  readonly #byKey = new Map<string, Destinations<Destination>>();

  bind({ destination, bindingKey }: Binding<Destination>): void {
    let bound = this.#byKey.get(bindingKey);
    if (bound === undefined) this.#byKey.set(bindingKey, (bound = new Destinations()));
    bound.add(destination);
  }

  unbind({ destination, bindingKey }: Binding<Destination>): void {
    const bound = this.#byKey.get(bindingKey);
    if (bound === undefined) return;
    bound.remove(destination);
    if (bound.size === 0) this.#byKey.delete(bindingKey);
  }

  route(_message: Message, routingKey: string, into: Into<Destination>): void {
    this.#byKey.get(routingKey)?.addTo(into);
  }
}

/** Routes every message to every destination. Binding keys are kept, and ignored (rule P9). */
export class FanoutRouter<Destination> implements Router<Destination> {
  readonly ignoresKeys = true;
  readonly #bound = new Destinations<Destination>();

  bind(binding: Binding<Destination>): void {
    this.#bound.add(binding.destination);
  }

  unbind(binding: Binding<Destination>): void {
    this.#bound.remove(binding.destination);
  }

  route(_message: Message, _routingKey: string, into: Into<Destination>): void {
    this.#bound.addTo(into);
  }
}
