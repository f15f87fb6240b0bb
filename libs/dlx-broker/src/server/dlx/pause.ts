import type { Broker, Queue, User } from '../../engine/broker/index.js';
import { mayRead } from '../http/auth.js';
import { textIn } from '../http/body.js';
import { noContent } from '../http/reply.js';
import type { Handler, Resource } from '../http/resource.js';
import { durationOf, onlyKnown } from './input.js';
import { queueNamed } from './named.js';

/** True if the user who asks may see the reason of the pause of a queue. */
export type SeesReason = (queue: Queue) => boolean;

/** The reasons that a user may see: those of queues that the user may read from. */
export const reasonsFor =
  (broker: Broker, user: User): SeesReason =>
  ({ home, name }) =>
    mayRead(broker, user, home.name, name);

/** The pause of a queue in answers; null while it is not paused. Times are milliseconds since 1970. A reason that is not seen is empty. */
export function pauseToJson(queue: Queue, seesReason: SeesReason): object | null {
  const { state } = queue.pausing;
  if (state === undefined) return null;
  const { reason, by = null, since, until = null } = state;
  return { reason: seesReason(queue) ? reason : '', by, since, until };
}

/** Pauses a queue, or changes the reason and the end of its pause (section X of the rules). */
const pause: Handler = async (request, management) => {
  onlyKnown(request.query.keys(), [], 'parameter');
  queueNamed('configure', request, management); // before the body is read
  const body = await request.body();
  onlyKnown(Object.keys(body), ['reason', 'for'], 'key');
  const [reason, time] = [textIn(body, 'reason'), textIn(body, 'for')];
  const milliseconds = time === undefined ? undefined : durationOf(time, 'for');
  // The queue, or the rights of the user, may be gone since.
  const queue = queueNamed('configure', request, management);
  const by = request.user.name;
  management.vhost(queue.home.name).pauseQueue(queue, { reason, for: milliseconds, by });
  // Not before: the audit log keeps thousands of entries in memory, and a refused reason may have megabytes.
  request.note({ ...(reason !== undefined && { reason }), ...(time !== undefined && { for: time }) });
  return noContent;
};

/** Ends the pause of a queue. A queue that is not paused stays as it is. */
const resume: Handler = (request, management) => {
  onlyKnown(request.query.keys(), [], 'parameter');
  const queue = queueNamed('configure', request, management);
  const wasPaused = management.vhost(queue.home.name).resumeQueue(queue.name);
  request.note({ was_paused: wasPaused });
  return noContent;
};

export const pauses: readonly Resource[] = [
  { path: '/dlx/queues/:vhost/:name/pause', allows: 'management', PUT: pause, DELETE: resume },
];
