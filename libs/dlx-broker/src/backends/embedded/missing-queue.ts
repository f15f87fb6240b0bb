import { AmqpError, type VirtualHost } from '../../engine/broker/index.js';
import { meantOf } from '../../platform/options/index.js';
import { TopologyError } from '../errors.js';

type Queues = Pick<VirtualHost, 'name' | 'queues'>;

/** The error for a queue that does not exist, with the name that was probably meant. */
export const missingQueue = (name: string, vhost: Queues): TopologyError =>
  new TopologyError(`no queue '${name}' in vhost '${vhost.name}'${hintOf(name, vhost)}`, []);

/** Adds the name that was probably meant to the error of a command whose queue does not exist. @returns the error */
export function withHint(error: unknown, name: string, vhost: Queues): unknown {
  if (error instanceof AmqpError && !vhost.queues.has(name)) error.message += hintOf(name, vhost);
  return error;
}

const hintOf = (name: string, { queues }: Queues): string => meantOf(name, [...queues.keys()]);
