import type { Queue } from '../../engine/broker/index.js';

type Counters = readonly (readonly [string, (queue: Queue) => number])[];

/** The counters of a queue that only grow, by their names in JSON. */
export const growingCounters: Counters = [
  ['dead_letters_in', ({ counters }) => counters.deadLettersIn],
  ['rejected', ({ counters }) => counters.rejected],
  ['expired', ({ counters }) => counters.expired],
  ['maxlen', ({ counters }) => counters.maxlen],
  ['delivery_limit', ({ counters }) => counters.deliveryLimit],
  ['redriven', ({ counters }) => counters.redriven],
  ['discarded', ({ counters }) => counters.discarded],
  ['lost', ({ counters }) => counters.lost],
];

/** The counters of a queue that a live event shows, by their names in JSON. */
export const liveCounters: Counters = [
  ['messages_ready', (queue) => queue.length],
  ['messages_unacknowledged', (queue) => queue.unacked],
  ['messages_dlx', (queue) => queue.retained],
  ['consumers', (queue) => queue.consumers.count],
  ...growingCounters,
];

/** @param oldest since when its oldest dead letter is dead, in milliseconds since 1970 */
export const liveRow = (vhost: string, queue: Queue, oldest: number | undefined): Record<string, unknown> => ({
  vhost,
  name: queue.name,
  ...Object.fromEntries(liveCounters.map(([name, of]) => [name, of(queue)])),
  oldest: oldest ?? null,
});
