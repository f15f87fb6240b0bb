import {
  compact,
  type FieldTable,
  type Message,
  messageOf,
  notesOf,
  type RecordedOrigin,
  withHeaders,
} from '../../message/index.js';
import { carbonCopiesOf, openExchange, withoutBcc } from '../commands/checks.js';
import type { TotalCounters } from '../counters.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Settled } from '../ports.js';
import type { Entry } from '../queue/entry.js';
import type { Queue } from '../queue/queue.js';
import type { Scheduler } from '../scheduler/scheduler.js';
import type { Routing } from './routing.js';

/** The new address and headers of a message that is moved. */
export interface RedriveTo {
  readonly exchange: string;
  readonly routingKey: string;
  /** The new headers, in place of the message's own. */
  readonly headers: FieldTable | undefined;
  /** The recorded origin that the message keeps; undefined for one that starts anew. */
  readonly origin?: RecordedOrigin | undefined;
  /** A message whose properties and body replace those of the moved message. The caller has checked them like those of a publish. */
  readonly edited?: Message | undefined;
  /** Called when the move is durable, or with the error. */
  readonly settled?: Settled;
}

/** The result of a redrive; only a message that moved has left its queue. */
export type RedriveResult =
  | { readonly outcome: 'moved'; readonly queues: readonly string[] }
  /** The message is no longer ready in its queue: it was delivered, expired or dropped, or the queue was deleted. */
  | { readonly outcome: 'gone' }
  /** No queue would get the message. */
  | { readonly outcome: 'unroutable' }
  /** These queues are full and refuse publishes (rule C7), or the disk is full. */
  | { readonly outcome: 'refused'; readonly queues: readonly string[] };

/** What a redrive needs of the virtual host. */
interface RedriveHome {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly counters: TotalCounters;
  readonly routing: Routing;
  /** @throws 404 */
  exchange(name: string): Exchange;
}

/** See {@link VirtualHostCore.redrive}. */
export function redrive(vhost: RedriveHome, queue: Queue, entry: Entry, to: RedriveTo): RedriveResult {
  const { scheduler } = vhost;
  const now = scheduler.begin();
  try {
    if (!queue.has(entry.position)) return { outcome: 'gone' };
    const exchange = openExchange(vhost, to.exchange);
    const message = readdressed(to.edited ?? entry.message, to);
    const targets = [...vhost.routing.queuesOf(message, exchange)];
    if (targets.length === 0) return { outcome: 'unroutable' };
    const { journal } = scheduler;
    const full = targets.filter(
      (target) =>
        target.wouldRefuse(message, target === queue ? entry : undefined) || journal?.refuses(target, message) === true,
    );
    if (full.length > 0) return { outcome: 'refused', queues: namesOf(full) };
    const withdrawn = queue.withdraw(entry, now) as Entry;
    queue.counters.redriven++;
    vhost.counters.redriven++;
    // The new messages share the stored body of the queue's own message; `entry` may have a copy of that message.
    const isOwn = withdrawn.message === entry.message;
    vhost.routing.publish(isOwn ? message : readdressed(to.edited ?? withdrawn.message, to), exchange, now);
    if (to.settled !== undefined) {
      if (journal !== undefined) scheduler.onDurable(to.settled);
      else to.settled();
    }
    return { outcome: 'moved', queues: namesOf(targets) };
  } finally {
    scheduler.end(now);
  }
}

/** See {@link VirtualHostCore.discard}. */
export function discard(vhost: RedriveHome, queue: Queue, entry: Entry): boolean {
  const now = vhost.scheduler.begin();
  try {
    if (queue.withdraw(entry, now) === undefined) return false;
    queue.counters.discarded++;
    vhost.counters.discarded++;
    return true;
  } finally {
    vhost.scheduler.end(now);
  }
}

/** The message as if it had been published to this address with these headers. */
export function readdressed(
  message: Message,
  { exchange, routingKey, headers, origin }: Omit<RedriveTo, 'settled'>,
): Message {
  const copies = headers && carbonCopiesOf(headers);
  const visible = headers && compact(withoutBcc(headers));
  const properties = withHeaders(message.own, visible, message.expiration);
  return messageOf(exchange, routingKey, properties, message, notesOf(copies, origin));
}

const namesOf = (queues: readonly Queue[]): readonly string[] => queues.map(({ name }) => name);
