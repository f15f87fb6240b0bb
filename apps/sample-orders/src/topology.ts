import type { BindingDeclaration, QueueDeclaration, Topology } from 'dlx-broker';
import { toFieldTable } from 'dlx-broker/engine';
import { routingKeyOf, type Kind } from './order.js';

export const shop = 'shop';
export const morgue = 'shop.dlx';

function queue(name: string, args: Readonly<Record<string, string | number>>): QueueDeclaration {
  const dying = toFieldTable({ 'x-dead-letter-exchange': morgue, ...args });
  return { name, durable: true, exclusive: false, autoDelete: false, arguments: dying };
}

const bound = (destination: string, kind: Kind): BindingDeclaration => ({
  source: shop,
  destination,
  destinationType: 'queue',
  routingKey: routingKeyOf(kind),
  arguments: toFieldTable({}),
});

/** Queues without a handler: nobody consumes them, so time and crowding have their way. Handlers declare their own. */
export const queuesWithoutHandlers: Partial<Topology> = {
  queues: [
    // A reservation waits five seconds; then it is dead-lettered under a key of the queue's choice.
    queue('reservations', { 'x-message-ttl': 5_000, 'x-dead-letter-routing-key': 'dead.expired' }),
    // Five places: one more, and the oldest is dead-lettered. It keeps its own routing key, for the queue names none.
    queue('flash-sale', { 'x-max-length': 5 }),
  ],
  bindings: [bound('reservations', 'reserved'), bound('flash-sale', 'flash')],
};
