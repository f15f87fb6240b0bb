import {
  compact,
  type FieldTable,
  type Message,
  messageOf,
  notesOf,
  type RecordedOrigin,
  withHeaders,
} from '../../message/index.js';
import type { TotalCounters } from '../counters.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Settled } from '../ports.js';
import { carbonCopiesOf, openExchange, withoutBcc } from '../commands/publication-checks.js';
import type { Entry } from '../queue/entry.js';
import type { Queue } from '../queue/queue.js';
import type { Scheduler } from '../scheduler/scheduler.js';
import type { Routing } from './routing.js';

/** The new address and headers of a message that is moved. */
export interface RedriveTo {
  readonly exchange: string;
  readonly routingKey: string;
  /** In place of the message's own; {@link headersForRedrive} makes them. */
  readonly headers: FieldTable | undefined;
  /** The recorded origin that the message keeps; undefined for one that starts anew. */
  readonly origin?: RecordedOrigin | undefined;
  /** A message whose properties and body it gets in place of its own. They were checked as those of a publish. */
  readonly edited?: Message | undefined;
  /** A queue that gets the message as it was, with these headers, in the same commit. */
  readonly keep?: { readonly queue: string; readonly headers: FieldTable } | undefined;
  /** Called when it has moved and this is durable, or with the error. */
  readonly settled?: Settled;
}

/** The result of a redrive; only a message that moved has left its queue. */
export type RedriveResult =
  | { readonly outcome: 'moved'; readonly queues: readonly string[] }
  /** It is no longer ready in its queue: delivered, expired, dropped, or the queue is gone. */
  | { readonly outcome: 'gone' }
  /** The queue for the message as it was is missing, full, or a destination of the new one. */
  | { readonly outcome: 'not_kept' }
  /** No queue would get it. */
  | { readonly outcome: 'unroutable' }
  /** These queues are full and refuse publishes (rule C7), or the disk is. */
  | { readonly outcome: 'refused'; readonly queues: readonly string[] };

/** What a redrive needs of the virtual host. */
export interface RedriveHome {
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
    if (queue.find(entry.position) === undefined) return { outcome: 'gone' };
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
    const kept = to.keep && keptOf(entry.message, to.keep);
    if (kept !== undefined) {
      const [lot] = vhost.routing.queuesOf(kept, vhost.exchange(''));
      const hasRoom = lot !== undefined && !targets.includes(lot) && !lot.wouldRefuse(kept) && lot !== queue;
      if (!hasRoom || journal?.refuses(lot, kept) === true) return { outcome: 'not_kept' };
    }
    const withdrawn = queue.withdraw(entry, now) as Entry;
    queue.counters.redriven++;
    vhost.counters.redriven++;
    // The messages share the stored body of the queue's own message, of which a caller may have a copy.
    const isOwn = withdrawn.message === entry.message;
    vhost.routing.publish(isOwn ? message : readdressed(to.edited ?? withdrawn.message, to), exchange, now);
    if (kept !== undefined) {
      const lot = vhost.exchange('');
      // Made now: the message may have become a row of another queue by the publish before.
      vhost.routing.publish(keptOf(withdrawn.message, to.keep as Kept), lot, now);
    }
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

/** The message under another address, as if it had been published there with these headers. */
export function readdressed(
  message: Message,
  { exchange, routingKey, headers, origin }: Omit<RedriveTo, 'settled'>,
): Message {
  const copies = headers && carbonCopiesOf(headers);
  const visible = headers && compact(withoutBcc(headers));
  const properties = withHeaders(message.own, visible, message.expiration);
  return messageOf(exchange, routingKey, properties, message, notesOf(copies, origin));
}

type Kept = NonNullable<RedriveTo['keep']>;

/** The message that is kept as it was. */
const keptOf = (message: Message, { queue, headers }: Kept): Message =>
  readdressed(message, { exchange: '', routingKey: queue, headers, origin: message.origin });

const namesOf = (queues: readonly Queue[]): readonly string[] => queues.map(({ name }) => name);
