import {
  type Field,
  int64,
  type Message,
  messageOf,
  emptyBody,
  notesOf,
  sorted,
  withHeaders,
} from '../../message/index.js';
import { countHandover, type Handover } from '../counters.js';
import { AmqpError, notImplemented, preconditionFailed } from '../errors.js';
import { CountedEntry, type Entry } from '../queue/entry.js';
import type { Queue } from '../queue/queue.js';
import { type Consumer, type ConsumerHome, Prefetch } from './consumer.js';
import { DeliveryTimeouts } from './delivery-timeouts.js';
import { Cancelled, Outstanding, ReplyDelivery, TimedOut, timedOut } from './outputs.js';
import { Settler } from './settler.js';
import type { TransactionalChannel } from './transaction.js';
import { AckTimeout, type AckWatch, minConsumerTimeout } from './unacked.js';

/** The content of `basic.get-ok` (rule Q7). */
export interface Got {
  readonly deliveryTag: number;
  readonly redelivered: boolean;
  readonly message: Message;
  /** The body, in memory even if the store has paged the message's body out. */
  readonly body: Uint8Array;
  readonly queue: string;
  /** Ready messages left. */
  readonly messageCount: number;
  readonly deliveryCount: number;
}

const noConsumers: ReadonlyMap<string, Consumer> = new Map();

/** A channel with its receiving half. */
export interface ReceivingChannel extends TransactionalChannel {
  readonly receiver: Receiver;
}

/** A channel's receiving half: its consumers, their limits, and the tags of what is handed out. */
export class Receiver implements ConsumerHome {
  /** Undefined before the first consumer: many channels only publish. */
  #consumers: Map<string, Consumer> | undefined;
  /** The shared limit of `basic.qos` with global (rule Q4). */
  readonly prefetch = new Prefetch(0);
  /** The limit of consumers that start from now on (rule Q4). */
  consumerPrefetch = 0;
  /** False while the client's side cannot take more. */
  isFlowing = true;
  readonly settler: Settler;
  /** Exists since the first delivery that has to be acked. */
  #timeout: AckWatch | undefined;
  /** The consumer that got the last message. */
  #served: Consumer | undefined;
  #replyAddress: string | undefined;
  #replyTag = '';
  #lastTag = 0;
  #added = 0;

  constructor(readonly channel: TransactionalChannel) {
    this.settler = new Settler(channel, this);
  }

  /** By their tags. */
  get consumers(): ReadonlyMap<string, Consumer> {
    return this.#consumers ?? noConsumers;
  }

  add(consumer: Consumer): void {
    consumer.order = ++this.#added;
    (this.#consumers ??= new Map()).set(consumer.tag, consumer);
  }

  /** Where replies to this channel's requests go (rule S1). */
  get replyAddress(): string | undefined {
    return this.#replyAddress;
  }

  /** `basic.qos` (rule Q4). */
  limit(prefetchCount: number, global: boolean, prefetchSize: number): void {
    if (prefetchSize !== 0) throw notImplemented(`prefetch_size!=0 (${prefetchSize})`);
    const { deniesGlobalQos } = this.channel.vhost.profile; // rule W12
    if (global && !deniesGlobalQos) return this.#limitAll(prefetchCount);
    this.consumerPrefetch = prefetchCount;
    this.#setSharedLimit(0); // rule Q10
  }

  /** A queue gives this channel a message for one of its consumers. */
  handOut(queue: Queue, entry: Entry, consumer: Consumer): void {
    const message = queue.declared.type === 'quorum' ? withDeliveryCount(entry, false) : entry.message;
    const tag = ++this.#lastTag;
    this.#served = consumer;
    const { redelivered } = entry;
    const { body } = message;
    const delivery = new Outstanding(this.channel, tag, queue, entry, consumer, redelivered, message, body);
    this.#count(queue, consumer.noAck ? 'deliverNoAck' : 'deliver', redelivered);
    if (consumer.noAck) {
      queue.settle(entry);
    } else {
      this.#hold(delivery);
      consumer.prefetch.unsettled++;
      this.prefetch.unsettled++;
    }
    this.channel.scheduler.output(delivery);
    if (this.channel.outbox.reserve?.(message.size) === false) this.isFlowing = false;
  }

  takeBack(deliveryTag: number): boolean {
    return this.settler.takeBack(deliveryTag);
  }

  /** `basic.get`. @param expired the number of messages that expired in front of the message */
  fetch(queue: Queue, noAck: boolean, now: number, expired: number): Got | undefined {
    const { type } = queue.declared;
    if (type === 'quorum' && queue.settings.singleActiveConsumer) throw notByGet(queue.name, this.channel.vhost);
    const ready = queue.length + expired;
    const entry = queue.take(now);
    if (entry === undefined) {
      if (queue.stalled !== undefined) throw cannotGet(queue.name, this.channel.vhost.name, queue.stalled.reason);
      return this.#count(queue, 'getEmpty', false);
    }
    const message = type === 'quorum' ? withDeliveryCount(entry, true) : entry.message;
    const { body } = message;
    const deliveryTag = ++this.#lastTag;
    const { redelivered } = entry;
    this.#count(queue, noAck ? 'getNoAck' : 'get', redelivered);
    if (noAck) queue.settle(entry);
    else {
      queue.consumers.holders++;
      this.#hold(new Outstanding(this.channel, deliveryTag, queue, entry, undefined, redelivered, message, emptyBody));
    }
    // Rule Q7: in a quorum queue, messages that expire right behind it still count, unless the get settles its message.
    const messageCount = type === 'quorum' && !noAck ? ready - 1 : queue.length;
    return { deliveryTag, redelivered, message, body, queue: queue.name, messageCount, deliveryCount: entry.failures };
  }

  /** A delivery of this consumer was settled: the consumer, and others under the channel's limit, may have room again. */
  released(consumer: Consumer): void {
    if (--consumer.prefetch.unsettled === 0 && consumer.isRemoved) consumer.queue.consumers.holders--;
    const wasFull = !this.prefetch.hasRoom;
    if (this.prefetch.unsettled > 0) this.prefetch.unsettled--; // a limit may have begun while a transaction held it
    if (wasFull) this.reviveAll();
    else consumer.revive();
  }

  /** Rule Q12: the consumer behind the one that got the last message comes first, so each gets its turn. */
  reviveAll(): void {
    let isBehind = false;
    for (const consumer of this.consumers.values()) {
      if (isBehind) consumer.revive();
      else isBehind = consumer === this.#served;
    }
    for (const consumer of this.consumers.values()) consumer.revive();
  }

  /** An unknown tag is no error (rule Q1). Deliveries of the consumer stay outstanding. */
  cancel(tag: string, now: number): void {
    if (this.#replyAddress !== undefined && tag === this.#replyTag) this.#dropReplies();
    const consumer = this.consumers.get(tag);
    this.#consumers?.delete(tag);
    consumer?.remove(now);
  }

  /** A queue was deleted, and its consumer with it (rule Q6). */
  ended(consumer: Consumer): void {
    this.#consumers?.delete(consumer.tag);
    this.channel.scheduler.output(new Cancelled(this.channel, consumer.tag));
  }

  has(tag: string): boolean {
    return this.consumers.has(tag) || (this.#replyAddress !== undefined && tag === this.#replyTag);
  }

  /** Receives direct replies from now on (rule S1). */
  takeReplies(tag: string): void {
    if (this.#replyAddress !== undefined) throw preconditionFailed('reply consumer already set');
    const { replies, names } = this.channel.vhost;
    this.#replyTag = tag;
    this.#replyAddress = replies.add(names.token(), this);
  }

  takeReply(message: Message): void {
    this.channel.scheduler.output(new ReplyDelivery(this.channel, this.#replyTag, ++this.#lastTag, message));
  }

  awaits(correlationId: string | undefined): boolean {
    return this.channel.outbox.awaits?.(correlationId) ?? true;
  }

  /** The channel is closed: it gets no further delivery. */
  stop(): void {
    this.isFlowing = false;
    this.#timeout?.stop();
    this.#dropReplies();
  }

  /**
   * Called after {@link stop}: removes the consumers, and then returns all outstanding deliveries.
   * @param limit the most steps; returning a few messages may take more
   * @returns steps taken; as many as the limit when there may be more to do
   */
  releaseSome(now: number, limit: number): number {
    let steps = 0;
    for (const consumer of this.consumers.values()) {
      if (steps >= limit) return limit;
      this.#consumers?.delete(consumer.tag);
      consumer.remove(now);
      steps++;
    }
    if (steps >= limit) return limit;
    const { count } = this.settler.unacked;
    this.settler.loseAll(now);
    return Math.min(limit, steps + count - this.settler.unacked.count);
  }

  #count(queue: Queue, how: Handover, redelivered: boolean): undefined {
    const { counters, vhost } = this.channel;
    countHandover(counters, how, redelivered);
    countHandover(queue.counters, how, redelivered);
    countHandover(vhost.counters, how, redelivered);
    if (queue.declared.type === 'quorum') countHandover(vhost.globals.quorum, how, redelivered);
  }

  #hold(delivery: Outstanding): void {
    this.#timeout ??= this.#ackWatch();
    this.#timeout.watch(delivery, this.channel.scheduler.time);
    this.settler.unacked.add(delivery);
  }

  #ackWatch(): AckWatch {
    const { scheduler, vhost, number } = this.channel;
    if (vhost.profile.queueConsumerTimeouts) {
      return new DeliveryTimeouts({
        timers: scheduler.timers,
        each: (visit) => this.settler.eachUnsettled(visit),
        limitOf: ({ from, consumer }) => consumer?.timeout ?? from.settings.consumerTimeout ?? vhost.consumerTimeout,
        timedOut: (deliveries, now) => this.#timedOut(deliveries, now),
      });
    }
    const limit = Math.max(minConsumerTimeout, vhost.consumerTimeout);
    return new AckTimeout({
      timers: scheduler.timers,
      unacked: this.settler.unacked,
      lastTag: () => this.#lastTag,
      limit,
      timedOut: () => this.channel.closeWith(timedOut(number, limit)),
    });
  }

  /** Deliveries return to their queues. A consumer gets nothing until the client has settled those of it (rule Q8). */
  #timedOut(deliveries: readonly Outstanding[], now: number): void {
    const byOrder = deliveries.toSorted((one, other) => orderOf(one) - orderOf(other));
    const consumers = new Set(byOrder.map(({ consumer }) => consumer));
    for (const delivery of byOrder) this.settler.release(delivery, now);
    for (const consumer of consumers) {
      const isKnown = consumer !== undefined && !consumer.isRemoved;
      if (!isKnown) return this.channel.closeWith(timedOut(this.channel.number, -1));
      this.channel.scheduler.output(new TimedOut(this.channel, consumer.tag));
    }
  }

  #limitAll(count: number): void {
    for (const { queue } of this.consumers.values()) {
      if (queue.declared.type !== 'quorum' || count === 0) continue;
      const where = `queue '${queue.name}' in vhost '${this.channel.vhost.name}'`;
      throw notImplemented(`${where} does not support global qos`); // rule D10
    }
    this.#setSharedLimit(count);
  }

  /**
   * A new limit counts all outstanding deliveries, those of `basic.get` included. The latter stay counted after
   * they are settled (rule Q11).
   */
  #setSharedLimit(count: number): void {
    if (this.prefetch.limit === 0) {
      if (count === 0) return;
      this.prefetch.unsettled = this.settler.unacked.count;
    }
    this.prefetch.limit = count;
    this.reviveAll();
  }

  #dropReplies(): void {
    if (this.#replyAddress === undefined) return;
    this.channel.vhost.replies.remove(this.#replyAddress);
    this.#replyAddress = undefined;
  }
}

/** Deliveries of `basic.get` are the last. */
const orderOf = ({ consumer }: Outstanding): number => consumer?.order ?? Number.MAX_SAFE_INTEGER;

/** A quorum queue's messages go only to its single active consumer (rule R3). */
const notByGet = (queue: string, { name, profile }: TransactionalChannel['vhost']): AmqpError =>
  new AmqpError(
    'RESOURCE_LOCKED',
    `cannot obtain access to locked queue '${queue}' in vhost '${name}'. basic.get operations are not supported by ` +
      `${profile.namesQueueTypes ? '<<"quorum">>' : 'quorum'} queues with single active consumer`,
  );

/** RabbitMQ's text for a queue that answers with an error. It closes only the channel, so consumers on other channels go on. */
const cannotGet = (queue: string, vhost: string, reason: string): AmqpError =>
  new AmqpError(
    'INTERNAL_ERROR',
    `Cannot get a message from queue '${queue}' in vhost '${vhost}': ${reason}. It stays in its queue`,
    'channel',
  );

/**
 * A quorum queue's message as a client gets it (rules D3, D4): the header `x-delivery-count` has the number of its returns. Consumers
 * see it from the second delivery on, `basic.get` always. Since RabbitMQ 4 (rule W6) `x-acquired-count` has the returns and
 * `x-delivery-count` the failures, each only above 0. The queue's own message has neither header.
 * @param always true for `basic.get`
 */
function withDeliveryCount(entry: Entry, always: boolean): Message {
  const { message } = entry;
  const counted = entry instanceof CountedEntry;
  if (!entry.redelivered && (counted || !always)) return message;
  const { properties } = message;
  const headers = new Map<string, Field>(properties.headers);
  if (counted) headers.set('x-acquired-count', int64(entry.returns || entry.failures));
  if (!counted || entry.failures > 0) headers.set('x-delivery-count', int64(entry.failures));
  const { exchange, routingKey, origin, body } = message;
  // The copy has the body itself, because the queue's own message may be gone before the copy is sent.
  return messageOf(
    exchange,
    routingKey,
    withHeaders(properties, counted ? sorted(headers) : headers, properties.expiration),
    body,
    notesOf(undefined, origin),
  );
}
