import type { Queue } from '../../../engine/broker/index.js';
import { textIn } from '../../http/body.js';
import { noContent, notFound } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import type { Management } from '../../management.js';
import { durationOf, onlyKnown } from '../input.js';

/** Pauses a queue, or changes the reason and the end of its pause (section X of the rules). */
const pause: Handler = async (request, management) => {
  onlyKnown(request.query.keys(), [], 'parameter');
  configurableQueue(request, management); // before the body is read
  const body = await request.body();
  onlyKnown(Object.keys(body), ['reason', 'for'], 'key');
  const [reason, time] = [textIn(body, 'reason'), textIn(body, 'for')];
  const milliseconds = time === undefined ? undefined : durationOf(time, 'for');
  // The queue, or the rights of the user, may be gone since.
  const queue = configurableQueue(request, management);
  const by = request.user.name;
  management.vhost(queue.home.name).pauseQueue(queue, { reason, for: milliseconds, by });
  // Not before: the audit log keeps thousands of entries in memory, and a refused reason may have megabytes.
  request.note({ ...(reason !== undefined && { reason }), ...(time !== undefined && { for: time }) });
  return noContent;
};

/** Ends the pause of a queue. A queue that is not paused stays as it is. */
const resume: Handler = (request, management) => {
  onlyKnown(request.query.keys(), [], 'parameter');
  const queue = configurableQueue(request, management);
  const wasPaused = management.vhost(queue.home.name).resumeQueue(queue.name);
  request.note({ was_paused: wasPaused });
  return noContent;
};

/**
 * The queue that a request names. The user needs the right to configure it, as for deleting it.
 * @throws Problem 404
 * @throws AmqpError 403 without the right, 405 for the exclusive queue of another connection
 */
function configurableQueue({ names, user }: ApiRequest, management: Management): Queue {
  const vhost = management.vhost(names['vhost'] ?? '');
  const name = names['name'] ?? '';
  if (!vhost.queues.has(name)) throw notFound();
  vhost.check(user, 'configure', 'queue', name);
  return management.as(user, vhost.name, ({ connection }) => vhost.queueFor(connection, name));
}

export const pauses: readonly Resource[] = [
  { path: '/dlx/queues/:vhost/:name/pause', allows: 'management', PUT: pause, DELETE: resume },
];
