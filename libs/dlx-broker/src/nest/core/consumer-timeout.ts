import type { ConsumerTimeout } from '../../backends/index.js';
import { defaultConsumerTimeout } from '../../engine/broker/index.js';
import type { PlannedHandler } from './handler.js';

/** What a server does of which nothing is known: it takes a message back after 30 minutes (rule Q8). */
export const usualTimeout: ConsumerTimeout = { limit: defaultConsumerTimeout, byQueue: false };

/** The argument by which a queue has another time limit, on servers that know it. */
export const timeoutArgument = 'x-consumer-timeout';

/** How long the server lets a handler keep a message, in milliseconds: the argument of its queue takes precedence, where it is known. */
export function limitOf({ handler }: PlannedHandler, { limit, byQueue } = usualTimeout): number {
  const own = byQueue ? handler.settings.queueArguments.get(timeoutArgument)?.value : undefined;
  return typeof own === 'number' ? own : limit;
}
