import type { Connection, Cursor, DeathListener, Queue } from '../../engine/broker/index.js';
import type { Browsing, Deaths, Listing } from '../backend.js';
import { missingQueue } from './missing-queue.js';

/** Shows the messages of a queue. It rejects with an AmqpError for a user without the right to read the queue. */
export const browsingOn = (connected: () => Connection): Browsing => ({
  isLocal: true,
  async browse(name, limit, after) {
    const { entries, next } = readable(connected(), name).browse({ limit, after: after as Cursor | undefined });
    return { messages: entries.map(({ message }) => message), next };
  },
  async oldest(name, since) {
    const { head } = readable(connected(), name);
    return head && since(head);
  },
});

function readable({ vhost, user }: Connection, name: string): Queue {
  vhost.check(user, 'read', 'queue', name);
  const queue = vhost.queues.get(name);
  if (queue !== undefined) return queue;
  throw missingQueue(name, vhost);
}

export const listingOn = (connected: () => Connection): Listing => ({
  queueNames: async () => [...connected().vhost.queues.keys()],
});

export const deathsOn = (connected: () => Connection): Deaths => ({
  onDeath(listener) {
    const connection = connected();
    const { deathListeners, scheduler } = connection.vhost;
    // After the command, because a listener may start new ones.
    const deathListener: DeathListener = ({ name }, message, reason) =>
      scheduler.output({ connection, send: () => listener({ queue: name, message, reason }) });
    deathListeners.add(deathListener);
    return () => deathListeners.delete(deathListener);
  },
});
