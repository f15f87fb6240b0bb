import type { BindingDeclaration, Field, QueueDeclaration, Topology } from 'dlx-broker';
import { routingKeyOf, type Kind } from './order.js';

export const shop = 'shop';
export const morgue = 'shop.dlx';

const text = (value: string): Field => ({ type: 'S', value });
const integer = (value: number): Field => ({ type: 'I', value });

function queue(name: string, args: Readonly<Record<string, Field>>): QueueDeclaration {
  const dying = { 'x-dead-letter-exchange': text(morgue), ...args };
  return { name, durable: true, exclusive: false, autoDelete: false, arguments: new Map(Object.entries(dying)) };
}

const bound = (destination: string, kind: Kind): BindingDeclaration => ({
  source: shop,
  destination,
  destinationType: 'queue',
  routingKey: routingKeyOf(kind),
  arguments: new Map(),
});

/** Queues without a handler: nobody consumes them, so time and crowding have their way. Handlers declare their own. */
export const queuesWithoutHandlers: Partial<Topology> = {
  queues: [
    // A reservation waits five seconds; then it is dead-lettered under a key of the queue's choice.
    queue('reservations', { 'x-message-ttl': integer(5_000), 'x-dead-letter-routing-key': text('dead.expired') }),
    // Five places: one more, and the oldest is dead-lettered. It keeps its own routing key, for the queue names none.
    queue('flash-sale', { 'x-max-length': integer(5) }),
  ],
  bindings: [bound('reservations', 'reserved'), bound('flash-sale', 'flash')],
};
