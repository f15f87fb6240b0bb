import { notFound, ok } from '../http/reply.js';
import type { Handler, Resource } from '../http/resource.js';
import { onlyKnown } from './input.js';

/**
 * Drops the messages with a message id that a delayed exchange has not released. The user needs the right to write to
 * the exchange.
 */
const cancel: Handler = (request, management) => {
  onlyKnown(request.query.keys(), [], 'parameter');
  const { names, user } = request;
  const [name = '', id = ''] = [names['name'], names['id']];
  const vhost = management.vhost(names['vhost'] ?? '');
  if (!vhost.exchanges.has(name)) throw notFound();
  vhost.check(user, 'write', 'exchange', name);
  const cancelled = vhost.cancelDelayed(name, id);
  request.note({ cancelled });
  return ok({ exchange: name, message_id: id, cancelled });
};

export const delayed: readonly Resource[] = [
  { path: '/dlx/exchanges/:vhost/:name/delayed/:id', allows: 'management', DELETE: cancel },
];
