import { binding, queue, type TopologyOption } from 'dlx-broker';
import { routingKeyOf } from './order.js';

export const shop = 'shop';
export const morgue = 'shop.dlx';

/** Queues without a handler: nothing consumes them, so time and crowding have their way. Handlers declare their own. */
export const queuesWithoutHandlers: TopologyOption = {
  queues: [
    // A reservation waits five seconds; then it is dead-lettered under a key of the queue's choice.
    queue('reservations', { ttl: '5s', deadLetter: [morgue, 'dead.expired'] }),
    // Five places: one more, and the oldest is dead-lettered. It keeps its own routing key, for the queue names none.
    queue('flash-sale', { maxLength: 5, deadLetter: morgue }),
  ],
  bindings: [
    binding(shop, 'reservations', routingKeyOf('reserved')),
    binding(shop, 'flash-sale', routingKeyOf('flash')),
  ],
};
