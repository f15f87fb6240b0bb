import type { Message } from '../../message/index.js';
import type { Into } from './recipients.js';
import type { Router } from './router.js';

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
