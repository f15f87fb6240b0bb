import type { Queue } from '../../engine/broker/index.js';
import type { Management } from '../management.js';
import { notFound } from '../http/reply.js';
import type { ApiRequest } from '../http/resource.js';

/**
 * The queue that a request names. The user needs the right to read from it, because a look into a queue shows what a
 * consumer would get.
 * @throws Problem 404
 * @throws AmqpError 403 without the right to read, 405 for the exclusive queue of another connection
 */
export function readableQueue({ names, user }: ApiRequest, management: Management): Queue {
  const vhost = management.vhost(names['vhost'] ?? '');
  const name = names['name'] ?? '';
  if (!vhost.queues.has(name)) throw notFound();
  vhost.check(user, 'read', 'queue', name);
  return management.as(user, vhost.name, ({ connection }) => vhost.queueFor(connection, name));
}

/** The present state of a queue. */
export const aboutQueue = (queue: Queue): Record<string, unknown> => ({
  queue: queue.name,
  messages_ready: queue.length,
  messages_unacknowledged: queue.unacked,
});
