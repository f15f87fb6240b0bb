import type { Message } from '../../message/index.js';
import { Destinations } from './destinations.js';
import type { Into } from './recipients.js';
import type { Binding, Router } from './router.js';

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
