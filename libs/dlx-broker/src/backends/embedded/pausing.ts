import type { Broker, Connection, Queue } from '../../engine/broker/index.js';
import type { QueuePausing } from '../backend.js';
import { missingQueue } from './missing-queue.js';

/**
 * Pauses queues of the broker in this process. Each method rejects with an AmqpError for a user without the right to configure the
 * queue, and for the exclusive queue of another connection.
 */
export function pausingOn(broker: Broker, connected: () => Connection): QueuePausing {
  const queueOf = (name: string): { readonly queue: Queue; readonly connection: Connection } => {
    const connection = connected();
    const { vhost, user } = connection;
    if (!vhost.queues.has(name)) throw missingQueue(name, vhost);
    vhost.check(user, 'configure', 'queue', name);
    return { queue: vhost.queueFor(connection, name), connection };
  };
  const stored = (since: number): Promise<void> =>
    new Promise((resolve, reject) => {
      broker.onStored(since, (failure) => (failure === undefined ? resolve() : reject(failure)));
    });
  return {
    async pause(name, { reason, for: time } = {}) {
      const { queue, connection } = queueOf(name);
      const { sequence } = broker;
      connection.vhost.pauseQueue(queue, { reason, for: time, by: connection.user?.name });
      await stored(sequence);
    },
    async resume(name) {
      const { connection } = queueOf(name);
      const { sequence } = broker;
      connection.vhost.resumeQueue(name);
      await stored(sequence);
    },
    pauseOf: async (name) => queueOf(name).queue.pausing.state,
  };
}
