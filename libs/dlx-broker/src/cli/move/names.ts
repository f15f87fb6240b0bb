import { createHash } from 'node:crypto';
import { type FieldTable, isShortstr, longstr } from '../../message/index.js';
import type { Moving } from './ends.js';

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

/**
 * The queue in which delayed messages wait on the other side, a new one for each move. Each message has its own time to live. They
 * arrive in the order in which they are due, so no message waits behind one that is due later.
 */
export const delayQueueFor = (queue: string): string => {
  const moment = Date.now().toString(36);
  const name = `${prefix}${queue}.delayed.${moment}`;
  return isShortstr(name) ? name : exchangeFor(name);
};

/** Of that queue: it keeps a message until the queue it is for has taken it (rule M1). */
export const delayQueueArguments = (queue: string): FieldTable =>
  new Map([
    ['x-queue-type', longstr('quorum')],
    ['x-dead-letter-exchange', longstr('')],
    ['x-dead-letter-routing-key', longstr(queue)],
    ['x-dead-letter-strategy', longstr('at-least-once')],
    ['x-overflow', longstr('reject-publish')],
  ]);

/** The message with its delay as its time to live. */
export const withDelay = (message: Moving, delay: number): Moving => ({
  ...message,
  properties: { ...message.properties, deliveryMode: 2, expiration: String(delay) },
});
