import type { Message } from '../../message/index.js';
import type { Exchange } from '../exchange/exchange.js';
import type { DelayedMessages } from '../exchange/delayed-messages.js';
import type { Queue } from '../queue/queue.js';
import { isReplyAddress } from './reply-addresses.js';
import type { VirtualHost } from './virtual-host.js';

/** Where the publish of a transaction goes: found at the publish, used at the commit (rule K10). */
export interface Routed {
  /** Names of queues, each once: who has the name at the commit gets the message. */
  readonly queues: readonly string[];
  /** Delayed exchanges that hold it back. */
  readonly holds: readonly DelayedMessages[];
}

const noHolds: readonly DelayedMessages[] = [];

/** Finds the queues of a message that is published later. A direct reply leaves at once (rule K11). */
export function routeAhead(vhost: VirtualHost, message: Message, exchange: Exchange): Routed {
  if (exchange.name !== '') {
    const queues = vhost.queuesOf(message, exchange).map(({ name }) => name);
    return { queues, holds: vhost.holdsOfLast };
  }
  vhost.replies.deliver(message);
  // The default exchange asks for no binding: a queue declared before the commit is found by its name.
  const { carbonCopies, routingKey } = message;
  if (carbonCopies === undefined) return { queues: isReplyAddress(routingKey) ? [] : [routingKey], holds: noHolds };
  const keys = new Set([routingKey, ...carbonCopies.cc, ...carbonCopies.bcc]);
  return { queues: [...keys].filter((key) => !isReplyAddress(key)), holds: noHolds };
}

/** The queues and holds that are still there. */
export function stillThere(
  vhost: VirtualHost,
  { queues, holds }: Routed,
): [readonly Queue[], readonly DelayedMessages[]] {
  const found: Queue[] = [];
  for (const name of queues) {
    const queue = vhost.queues.get(name);
    if (queue !== undefined) found.push(queue);
  }
  return [found, holds.length === 0 ? holds : holds.filter((hold) => vhost.holder(hold.name) === hold)];
}
