import type { Broker, Queue, User } from '../../../engine/broker/index.js';
import { mayRead } from '../../http/auth.js';

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
