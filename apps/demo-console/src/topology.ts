import { binding, queue, type TopologyOption } from 'dlx-broker';
import type { Broker } from 'dlx-broker/engine';

export const deadLetters = 'shop.dlx';

const dead = ['orders', 'refunds', 'email', 'webhooks', 'legacy-import', 'stock-updates', 'carts'];

/** Queues without a handler; handlers declare their own. */
export const topology: TopologyOption = {
  queues: [
    // A cart without an order is abandoned after half an hour.
    queue('carts', { ttl: '30m', deadLetter: [deadLetters, 'carts'] }),
    // The warehouse is closed: five hundred updates stay, and each further one pushes out the oldest.
    queue('stock-updates', { maxLength: 500, deadLetter: [deadLetters, 'stock-updates'] }),
    queue('audit-trail', { ttl: '12h' }),
    queue('shipping.wait', { ttl: '20s', arguments: toShipping() }),
    'shipping.parked',
    ...dead.map((name) => `${name}.dead`),
  ],
  bindings: [
    binding('dlx.events', 'carts', 'cart.*'),
    binding('dlx.events', 'stock-updates', 'stock.*'),
    binding('dlx.events', 'audit-trail', ['payment.#', 'refund.#']),
    binding('shipping.retry', 'shipping.wait', 'wait'),
    ...dead.map((name) => binding(deadLetters, `${name}.dead`, name)),
  ],
};

/** The way back from the wait: the default exchange, by the name of the queue. */
function toShipping(): Readonly<Record<string, string>> {
  return { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'shipping' };
}

/** Policies, one of which an argument of the queue overrides, and bounds of the operator. */
export function setPolicies(broker: Broker): void {
  const vhost = broker.virtualHost('/');
  const bounds = { 'max-length': 20_000, 'message-ttl': 6 * 60 * 60_000 };
  vhost.setPolicy('trails', { pattern: '-trail$', definition: bounds, applyTo: 'queues', priority: 1 });
  vhost.setPolicy('old-mail', {
    pattern: '\\.dead$',
    definition: { 'message-ttl': 14 * 86_400_000 },
    applyTo: 'queues',
  });
  vhost.setOperatorPolicy('ceiling', {
    pattern: '-(updates|trail)$',
    definition: { 'max-length': 10_000 },
    applyTo: 'queues',
  });
}

const everything = { configure: '.*', write: '.*', read: '.*' };
const nothing = { configure: '', write: '', read: '.*' };

/** `guest` may do everything, and `viewer` may only look. */
export const users = [
  { name: 'guest', password: 'guest', tags: ['administrator'], permissions: { '/': everything } },
  { name: 'viewer', password: 'viewer', tags: ['monitoring'], permissions: { '/': nothing } },
];
