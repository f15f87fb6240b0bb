import {
  AmqpError,
  type Broker,
  type Connection,
  type Cursor,
  type DeathListener,
  type Queue,
  type VirtualHost,
} from '../../engine/broker/index.js';
import { didYouMean } from '../../platform/options/index.js';
import type { Browsing, Deaths, Listing, QueuePausing } from '../backend.js';
import { TopologyError } from '../errors.js';

type Queues = Pick<VirtualHost, 'name' | 'queues'>;

/** The error for a queue that does not exist, with the name that was probably meant. */
const missingQueue = (name: string, vhost: Queues): TopologyError =>
  new TopologyError(`no queue '${name}' in vhost '${vhost.name}'${hintOf(name, vhost)}`, []);

/** Adds the name that was probably meant to the error of a command whose queue does not exist. @returns the error */
export function withHint(error: unknown, name: string, vhost: Queues): unknown {
  if (error instanceof AmqpError && !vhost.queues.has(name)) error.message += hintOf(name, vhost);
  return error;
}

const hintOf = (name: string, { queues }: Queues): string => didYouMean(name, [...queues.keys()]);

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

/** The effect of each key of a policy that {@link retainOn} sets. */
const settingOf = {
  'message-ttl': 'messageTtl',
  'dead-letter-exchange': 'deadLetterExchange',
  'dead-letter-routing-key': 'deadLetterRoutingKey',
} as const;

/** See `Backend.retain`. */
export function retainOn(
  { vhost, user }: Connection,
  name: string,
  definition: Readonly<Record<string, string | number>> | undefined,
): string | undefined {
  const policy = `dlx-broker.retention.${name}`;
  const { user: policies } = vhost.policies;
  if (definition === undefined) {
    if (user === undefined && policies.get(policy) !== undefined) vhost.deletePolicy(policy);
    return undefined;
  }
  const queue = vhost.queues.get(name);
  if (queue === undefined) return undefined;
  if (user !== undefined) return `user '${user.name}' of the application sets no policies`;
  const { declared } = queue;
  const applied = policies.matchQueue(name, declared.type);
  if (applied !== undefined && applied.name !== policy) {
    return `policy '${applied.name}' applies to it, and a queue has one policy only`;
  }
  const pattern = `^${name.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&')}$`;
  vhost.setPolicy(policy, { pattern, definition, applyTo: 'queues' });
  const { settings } = vhost.policies.inForce(declared);
  const other = Object.entries(settingOf).find(([key, setting]) => settings[setting] !== definition[key]);
  return other === undefined ? undefined : `its own arguments say another ${other[0]}`;
}

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
