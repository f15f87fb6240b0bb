import type { Entry, Queue, VirtualHost } from '../../engine/broker/index.js';
import { checkVhost } from '../http/auth.js';
import { badRequest, notFound } from '../http/reply.js';
import type { ApiRequest } from '../http/resource.js';
import type { Management } from '../management.js';

/**
 * The queue that a request names, if the user has the right to read from it, because a look into a queue shows what a consumer would get;
 * or the right to configure it, as for deleting it.
 * @throws Problem 404
 * @throws AmqpError 403 without the right, 405 for the exclusive queue of another connection
 */
export function queueNamed(right: 'read' | 'configure', { names, user }: ApiRequest, management: Management): Queue {
  const vhost = management.vhost(names['vhost'] ?? '');
  const name = names['name'] ?? '';
  if (!vhost.queues.has(name)) throw notFound();
  vhost.check(user, right, 'queue', name);
  return management.as(user, vhost.name, ({ connection }) => vhost.queueFor(connection, name));
}

export const readableQueue = (request: ApiRequest, management: Management): Queue =>
  queueNamed('read', request, management);

/** The present state of a queue. */
export const aboutQueue = (queue: Queue): Record<string, unknown> => ({
  queue: queue.name,
  messages_ready: queue.length,
  messages_unacknowledged: queue.unacked,
});

/**
 * The virtual host of the parameter `vhost`, or all that the user may see, sorted by name.
 * @throws Problem 404 without such a virtual host, 401 if it is closed to the user
 */
export function seenVhosts({ query, user }: ApiRequest, management: Management): readonly VirtualHost[] {
  const name = query.get('vhost');
  if (name === null) return management.vhostsOf(user);
  checkVhost(management.broker, user, name, 'GET');
  return [management.vhost(name)];
}

/**
 * The position of the message that the path names.
 * @throws Problem 400
 */
export function positionNamed({ names }: ApiRequest): number {
  const id = names['id'] ?? '';
  if (!/^\d{1,16}$/.test(id)) throw badRequest(`'${id}' is no id of a message`);
  return Number(id);
}

/**
 * The message that the path names.
 * @throws Problem 404 if it is not ready any more
 */
export function entryNamed(request: ApiRequest, queue: Queue): Entry {
  const entry = queue.find(positionNamed(request));
  if (entry === undefined) throw notFound();
  return entry;
}
