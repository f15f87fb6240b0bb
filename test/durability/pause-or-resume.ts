import type { VirtualHost } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { Random } from '../fuzz/random.js';

/** Pauses a queue without an end, or with one that comes soon; or ends its pause. */
export function pauseOrResume(vhost: VirtualHost, name: string, random: Random): void {
  const queue = vhost.queues.get(name);
  if (queue === undefined || random.chance(0.4)) return void vhost.resumeQueue(name);
  vhost.pauseQueue(queue, { reason: `r${random.integer(1, 9)}`, for: random.pick([undefined, 40, 400]) });
}
