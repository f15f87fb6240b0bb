import type { Message } from '../../message/index.js';
import { Destinations } from './destinations.js';
import type { Into } from './recipients.js';
import type { Binding, Router } from './router.js';

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
