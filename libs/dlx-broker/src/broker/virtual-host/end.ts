import type { VirtualHostCore } from './core.js';

/**
 * Ends everything in a virtual host at once; what is left of it in memory goes in turns. The journal knows it from the
 * end of the virtual host, which is to be the same command.
 */
export function endVirtualHost({ queues, exchanges, counters, scheduler }: VirtualHostCore): void {
  const ended = [...queues.values()];
  for (const queue of ended) queue.deleted = true;
  for (const { delayed } of exchanges.values()) delayed?.end();
  queues.clear();
  exchanges.clear();
  counters.queueDeleted += ended.length;
  scheduler.schedule({
    work: (_now, limit) => {
      const some = ended.splice(-limit);
      for (const queue of some) for (const consumer of queue.end()) consumer.cancelledByServer();
      return some.length;
    },
  });
}
