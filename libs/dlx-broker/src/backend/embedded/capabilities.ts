import type { Connection, Cursor, DeathListener } from '../../broker/index.js';
import type { Browsing, Deaths, Listing } from '../backend.js';
import { TopologyError } from '../errors.js';

/** Shows the messages of a queue. It rejects with an AmqpError for a user without the right to read the queue. */
export const browsingOn = (connected: () => Connection): Browsing => ({
  isLocal: true,
  async browse(queue, limit, after) {
    const { vhost, user } = connected();
    vhost.check(user, 'read', 'queue', queue);
    const found = vhost.queues.get(queue);
    if (found === undefined) throw new TopologyError(`no queue '${queue}' in vhost '${vhost.name}'`, []);
    const { entries, next } = found.browse({ limit, after: after as Cursor | undefined });
    return { messages: entries.map(({ message }) => message), next };
  },
});

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
