import type { VirtualHostCore } from './core.js';

/**
 * Deletes all queues and exchanges of a virtual host at once, and frees their memory in turns. The caller reports the deletion of the
 * virtual host to the journal in the same command.
 */
export function deleteVirtualHost({ queues, exchanges, counters, scheduler }: VirtualHostCore): void {
  const deleted = [...queues.values()];
  for (const queue of deleted) queue.deleted = true;
  for (const { delayed } of exchanges.values()) delayed?.delete();
  queues.clear();
  exchanges.clear();
  counters.queueDeleted += deleted.length;
  scheduler.schedule({
    work: (_now, limit) => {
      const some = deleted.splice(-limit);
      for (const queue of some) for (const consumer of queue.delete()) consumer.cancelledByServer();
      return some.length;
    },
  });
}
