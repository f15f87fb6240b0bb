import type { VirtualHost } from './virtual-host.js';

/**
 * Ends everything in a virtual host at once; what is left of it in memory goes in turns. The journal knows it from the
 * end of the virtual host, which is to be the same command.
 */
export function endVirtualHost({ queues, exchanges, counters, scheduler }: VirtualHost): void {
  const ended = [...queues.values()];
  for (const queue of ended) queue.deleted = true;
  for (const { hold } of exchanges.values()) hold?.end();
  queues.clear();
  exchanges.clear();
  counters.queueDeleted += ended.length;
  scheduler.schedule({
    work: (_now, limit) => {
      const some = ended.splice(-limit);
      for (const queue of some) for (const taker of queue.end()) taker.cancelledByServer();
      return some.length;
    },
  });
}
