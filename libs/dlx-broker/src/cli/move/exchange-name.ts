import { createHash } from 'node:crypto';
import { isShortstr } from '../../message/index.js';

const prefix = 'dlx-broker.move.';

/**
 * The exchange through which a queue gets what is moved into it: a fanout that leads nowhere else, so that messages keep their routing
 * keys, and `CC` headers send no copies to other queues. Its name is the same for each move into a queue, so that the next
 * move removes what one that was killed left behind.
 */
export function exchangeFor(queue: string): string {
  const name = prefix + queue;
  return isShortstr(name) ? name : prefix + createHash('sha256').update(queue).digest('hex');
}
