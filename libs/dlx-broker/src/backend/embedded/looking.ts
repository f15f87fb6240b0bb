import type { Connection, Cursor, DeathListener } from '../../broker/index.js';
import type { BackendDeath, BrowseCursor, BrowsePage } from '../backend.js';
import { TopologyError } from '../errors.js';

/** @throws TopologyError when there is no such queue, AmqpError without the right to read it */
export function browseQueue(
  { vhost, user }: Connection,
  queue: string,
  limit: number,
  after?: BrowseCursor,
): BrowsePage {
  vhost.check(user, 'read', 'queue', queue);
  const found = vhost.queues.get(queue);
  if (found === undefined) throw new TopologyError(`no queue '${queue}' in vhost '${vhost.name}'`, []);
  const { entries, next } = found.browse({ limit, after: after as Cursor | undefined });
  return { messages: entries.map(({ message }) => message), next };
}

/** @returns what ends the reports */
export function reportDeaths(connection: Connection, listener: (death: BackendDeath) => void): () => void {
  const { deathListeners, scheduler } = connection.vhost;
  // After the command, because a listener may start new ones.
  const deathListener: DeathListener = ({ name }, message, reason) =>
    scheduler.output({ connection, send: () => listener({ queue: name, message, reason }) });
  deathListeners.add(deathListener);
  return () => deathListeners.delete(deathListener);
}
