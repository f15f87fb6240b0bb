import type { Queue } from '../../broker/index.js';

/** The counters of a queue that a live event shows, by their names in JSON. */
export const liveCounters: readonly (readonly [string, (queue: Queue) => number])[] = [
  ['messages_ready', (queue) => queue.length],
  ['messages_unacknowledged', (queue) => queue.unacked],
  ['messages_dlx', (queue) => queue.retained],
  ['consumers', (queue) => queue.consumers.count],
  ['dead_letters_in', ({ counters }) => counters.deadLettersIn],
  ['rejected', ({ counters }) => counters.rejected],
  ['expired', ({ counters }) => counters.expired],
  ['maxlen', ({ counters }) => counters.maxlen],
  ['delivery_limit', ({ counters }) => counters.deliveryLimit],
  ['redriven', ({ counters }) => counters.redriven],
  ['discarded', ({ counters }) => counters.discarded],
  ['lost', ({ counters }) => counters.lost],
];

export const liveRow = (vhost: string, queue: Queue): Record<string, unknown> => ({
  vhost,
  name: queue.name,
  ...Object.fromEntries(liveCounters.map(([name, of]) => [name, of(queue)])),
});
