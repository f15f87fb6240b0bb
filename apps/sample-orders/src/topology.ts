import { binding, queue, type TopologyOption } from 'dlx-broker';
import { routingKeyOf } from './order.js';

export const shop = 'shop';
export const morgue = 'shop.dlx';

/** Queues without a handler: their messages expire, or are dropped when the queue is full. Handlers declare their own queues. */
export const queuesWithoutHandlers: TopologyOption = {
  queues: [
    // A reservation waits five seconds. Then it is dead-lettered with the routing key that the queue sets.
    queue('reservations', { ttl: '5s', deadLetter: [morgue, 'dead.expired'] }),
    // The sixth message makes the queue dead-letter its oldest one, which keeps its routing key: the queue sets none.
    queue('flash-sale', { maxLength: 5, deadLetter: morgue }),
  ],
  bindings: [
    binding(shop, 'reservations', routingKeyOf('reserved')),
    binding(shop, 'flash-sale', routingKeyOf('flash')),
  ],
};
