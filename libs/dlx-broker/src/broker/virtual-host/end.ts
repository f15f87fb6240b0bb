import type { VirtualHostCore } from './core.js';

/**
 * Deletes all queues and exchanges of a virtual host at once, and frees their memory in turns. The journal only gets
 * the deletion of the virtual host, which has to be in the same command.
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
