import type { Message, Properties, RecordedOrigin } from '../../message/index.js';
import { AmqpError } from '../errors.js';
import type { Exchange } from '../exchange/exchange.js';
import { Outcome, type Settled } from '../ports.js';
import type { Ahead } from '../queue/contents.js';
import type { Queue } from '../queue/queue.js';
import type { Planned } from '../virtual-host/routing.js';
import type { ChannelContext } from './context.js';

/** A message of a commit (rule K15). */
export interface CommitPublication {
  readonly exchange: string;
  readonly routingKey: string;
  readonly properties: Properties;
  readonly body: Uint8Array;
  /** True: the commit is refused when no queue would get the message. */
  readonly mandatory?: boolean;
  /** Recorded for the message that this one replaces; never taken from headers. */
  readonly origin?: RecordedOrigin;
}

/** Messages to be published in one step with the ack of a delivery. */
export interface Commit {
  readonly deliveryTag: number;
  readonly publications: readonly CommitPublication[];
  /** Called when all of it is durable, or with the error; never if the commit is refused. */
  readonly settled?: Settled;
}

/** The result of a commit. */
export type CommitResult =
  /** Everything is done. `unroutable` has the indexes of the messages that no queue got. */
  | { readonly outcome: 'done'; readonly unroutable: readonly number[] }
  /** Nothing is done, because of the message at this index. */
  | { readonly outcome: 'failed'; readonly index: number; readonly error: AmqpError }
  | { readonly outcome: 'unroutable'; readonly index: number }
  /** A queue is full and refuses publishes (rule C7), or the journal has no room. */
  | { readonly outcome: 'refused'; readonly index: number };

/** A publication that passed its checks. */
interface CheckedPublication {
  readonly exchange: Exchange;
  readonly message: Message;
}

/** What a commit needs of its channel. */
export interface CommitHost {
  readonly channel: ChannelContext;
  /** Acks the delivery. */
  ack(now: number): void;
  /** Checks a publication (rule K7). @throws AmqpError */
  checked(publication: CommitPublication): CheckedPublication;
}

interface Step extends CheckedPublication {
  readonly planned: Planned;
}

const noneAhead: Ahead = { count: 0, bytes: 0 };

/**
 * Part of a command: publishes all messages and acks, or does nothing at all (rule K15). All checks that may refuse a message come
 * first. The check of a message takes into account the room that earlier messages need, and none of their other effects.
 * @param settled called when all of it is durable, or with the error; never if the commit is refused
 */
export function commitAll(
  host: CommitHost,
  publications: readonly CommitPublication[],
  settled: Settled | undefined,
  now: number,
): CommitResult {
  const { scheduler, vhost, counters } = host.channel;
  const steps: Step[] = [];
  const unroutable: number[] = [];
  // The room that earlier messages need.
  const ahead = publications.length > 1 ? new Map<Queue, Ahead>() : undefined;
  for (let index = 0; index < publications.length; index++) {
    const publication = publications[index]!;
    let found: CheckedPublication;
    try {
      found = host.checked(publication);
    } catch (error) {
      if (error instanceof AmqpError) return { outcome: 'failed', index, error };
      throw error;
    }
    const { message, exchange } = found;
    const planned = vhost.routing.plan(message, exchange);
    const { queues, delays } = planned;
    if (queues.length === 0 && delays.length === 0) {
      counters.returnUnroutable++; // the caller gets the outcome
      vhost.counters.returnUnroutable++;
      if (publication.mandatory === true) return { outcome: 'unroutable', index };
      unroutable.push(index);
    }
    for (const queue of queues) {
      const before = ahead?.get(queue) ?? noneAhead;
      if (queue.wouldRefuse(message, undefined, before) || vhost.journal?.refuses(queue, message) === true) {
        return { outcome: 'refused', index };
      }
      ahead?.set(queue, { count: before.count + 1, bytes: before.bytes + queue.sizeOf(message) });
    }
    for (const delayed of delays) {
      if (vhost.journal?.refuses(delayed, message) === true) return { outcome: 'refused', index };
    }
    steps.push({ message, exchange, planned });
  }
  const { sequence } = scheduler;
  for (const { message, exchange, planned } of steps) {
    counters.publish++;
    const outcome = vhost.routing.publishPlanned(message, exchange, planned, now);
    if ((outcome & Outcome.Refused) !== 0) throw new TypeError('a message was refused that passed its checks');
  }
  host.ack(now);
  if (settled !== undefined) scheduler.onStored(sequence, settled);
  return { outcome: 'done', unroutable };
}
