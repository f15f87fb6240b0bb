import type { Properties } from '../../engine/message/index.js';
import { stackless } from '../../platform/index.js';
import { WireError } from '../wire/index.js';
import type {
  AmqpChannel,
  AmqpConnection,
  ChannelEvents,
  ConfirmPublisher,
  Done,
  ReturnedMessage,
  Sendable,
} from './api.js';
import { ChannelClosedError, type ClientError, NackedError, ReturnedError } from './errors.js';

/** A publish that the server has not confirmed. */
export interface Outstanding extends Sendable {
  /** True if it replaces a delivery (rule K14). */
  readonly isReplacing?: boolean;
}

const smallest = 64;

/** From this length on the ring is emptied before it grows, if few publishes are in it. */
const sparse = 1_024;

/**
 * Outstanding publishes by their delivery tags, which count up from 1. It is a ring buffer, so a confirm allocates and hashes nothing.
 * Publishes that stay unconfirmed while many later ones are confirmed leave the ring, which would grow without end: a quorum queue without
 * a majority confirms nothing, and other queues do.
 */
export class OutstandingPublishes {
  #ring: (Outstanding | undefined)[] = Array.from({ length: smallest }, () => undefined);
  /** The publishes that have left the ring, by their tags, in their order. */
  readonly #stragglers = new Map<number, Outstanding>();
  /** The tag of the oldest publish in the ring, or the next tag if there is none. */
  #oldest = 1;
  #next = 1;
  /** The number of outstanding publishes. */
  count = 0;

  /** The places of the ring. */
  get places(): number {
    return this.#ring.length;
  }

  /** The oldest tag in the ring, and the next tag to be used. */
  get range(): readonly [oldest: number, next: number] {
    return [this.#oldest, this.#next];
  }

  add(publish: Outstanding): void {
    if (this.#next - this.#oldest === this.#ring.length) this.#makeRoom();
    this.#ring[this.#next & (this.#ring.length - 1)] = publish;
    this.#next += 1;
    this.count += 1;
  }

  /** The publish of a tag in the ring; undefined if it is confirmed. */
  at(tag: number): Outstanding | undefined {
    return tag >= this.#oldest && tag < this.#next ? this.#ring[tag & (this.#ring.length - 1)] : undefined;
  }

  take(tag: number): Outstanding | undefined {
    if (tag < this.#oldest) return this.#takeStraggler(tag);
    const publish = this.at(tag);
    if (publish === undefined) return undefined;
    this.#ring[tag & (this.#ring.length - 1)] = undefined;
    this.count -= 1;
    this.#skip();
    return publish;
  }

  /** Takes all publishes up to a tag, in their order. */
  takeTo(last: number, taken: (publish: Outstanding) => void): void {
    for (const tag of this.#stragglers.keys()) this.#takeOne(tag, last, taken);
    for (let tag = this.#oldest; tag <= last; tag++) this.#takeOne(tag, last, taken);
  }

  #takeOne(tag: number, last: number, taken: (publish: Outstanding) => void): void {
    const publish = tag <= last ? this.take(tag) : undefined;
    if (publish !== undefined) taken(publish);
  }

  #takeStraggler(tag: number): Outstanding | undefined {
    const publish = this.#stragglers.get(tag);
    if (publish === undefined) return undefined;
    this.#stragglers.delete(tag);
    this.count -= 1;
    return publish;
  }

  #makeRoom(): void {
    const inRing = this.count - this.#stragglers.size;
    if (this.#ring.length >= sparse && inRing * 4 <= this.#ring.length) this.#empty();
    else this.#grow();
  }

  /** Moves the publishes of the older half out of the ring. */
  #empty(): void {
    const middle = this.#next - this.#ring.length / 2;
    for (let tag = this.#oldest; tag < middle; tag++) {
      const index = tag & (this.#ring.length - 1);
      const publish = this.#ring[index];
      if (publish !== undefined) this.#stragglers.set(tag, publish);
      this.#ring[index] = undefined;
    }
    this.#oldest = middle;
    this.#skip();
  }

  /** Makes the oldest publish in the ring the first. */
  #skip(): void {
    while (this.#oldest < this.#next && this.#ring[this.#oldest & (this.#ring.length - 1)] === undefined)
      this.#oldest++;
  }

  /** Doubles the ring, and moves each publish to its new index. */
  #grow(): void {
    const old = this.#ring;
    const ring = Array.from<Outstanding | undefined>({ length: old.length * 2 });
    for (let tag = this.#oldest; tag < this.#next; tag++) {
      ring[tag & (ring.length - 1)] = old[tag & (old.length - 1)];
    }
    this.#ring = ring;
  }
}

/**
 * Finds the publish that a returned message belongs to. The server returns messages in the order in which they were
 * published, each before its confirm, but without a delivery tag. So the publish is the first one after the last return that has the
 * same exchange, routing key, ids and body. Publishes that are equal in all of these can be exchanged for one another.
 */
class Returns {
  /** The first tag of the search for the next return. */
  #from = 1;

  constructor(readonly outstanding: OutstandingPublishes) {}

  /** @returns undefined if the message was never published */
  find(message: ReturnedMessage): Outstanding | undefined {
    const [oldest, next] = this.outstanding.range;
    for (let tag = Math.max(this.#from, oldest); tag < next; tag++) {
      const publish = this.outstanding.at(tag);
      if (publish === undefined || !mayReturn(publish) || !isSame(publish, message)) continue;
      this.#from = tag + 1;
      return publish;
    }
    return undefined;
  }
}

const mayReturn = ({ mandatory, isReplacing }: Outstanding): boolean => mandatory || isReplacing === true;

function isSame(publish: Outstanding, returned: ReturnedMessage): boolean {
  const { exchange, routingKey, properties, body, replyCode } = returned;
  return (
    publish.exchange === exchange &&
    publish.routingKey === routingKey &&
    publish.properties.messageId === properties.messageId &&
    publish.properties.correlationId === properties.correlationId &&
    (body.equals(publish.body) || (publish.isReplacing === true && replyCode === 403 && body.length === 0))
  );
}

/** What a publisher reports, see {@link ChannelEvents}. */
type PublisherEvents = Pick<ChannelEvents, 'closed'>;

/** Opens a channel that confirms. Publishing may begin at once. @param done called when the server confirms from now on */
export const openPublisher = (connection: AmqpConnection, events: PublisherEvents, done?: Done): ConfirmPublisher =>
  new ChannelPublisher(connection, events, done);

/** See {@link ConfirmPublisher}. */
class ChannelPublisher implements ConfirmPublisher {
  readonly #events: PublisherEvents;
  readonly #outstanding = new OutstandingPublishes();
  readonly #returns = new Returns(this.#outstanding);
  readonly channel: AmqpChannel;
  readonly #connection: AmqpConnection;

  constructor(connection: AmqpConnection, events: PublisherEvents, done: Done = () => undefined) {
    this.#events = events;
    this.#connection = connection;
    this.channel = connection.openChannel({
      closed: (failure) => this.#closed(failure),
      confirmed: (tag, multiple, ok) => this.#confirmed(tag, multiple, ok),
      returned: (message) => this.#returned(message),
    });
    this.channel.confirmSelect(done);
  }

  get outstanding(): number {
    return this.#outstanding.count;
  }

  get isOpen(): boolean {
    return this.channel.isOpen;
  }

  publish(
    exchange: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array,
    mandatory: boolean,
    done: Done,
    replaced?: number,
  ): void {
    const isReplacing = replaced !== undefined;
    const returned = undefined;
    this.#send({ exchange, routingKey, properties, body, mandatory, isReplacing, settled: done, returned }, replaced);
  }

  send(message: Sendable): void {
    message.returned = undefined; // of an attempt before
    this.#send(message, undefined);
  }

  close(done?: Done): void {
    this.channel.close(done);
  }

  #send(message: Outstanding, replaced: number | undefined): void {
    const { exchange, routingKey, properties, body, mandatory } = message;
    const refusal = this.channel.publish(exchange, routingKey, properties, body, mandatory, replaced);
    if (refusal !== undefined) return message.settled(refusal);
    this.#outstanding.add(message);
  }

  #confirmed(deliveryTag: number, multiple: boolean, ok: boolean): void {
    const [, next] = this.#outstanding.range;
    // Tag 0 with `multiple` is all of them.
    const last = multiple && deliveryTag === 0 ? next - 1 : deliveryTag;
    if (last >= next || (last === 0 && !multiple)) throw unknownTag(deliveryTag);
    if (multiple) return this.#outstanding.takeTo(last, (each) => this.#settle(each, failureOf(each, ok)));
    const publish = this.#outstanding.take(last);
    if (publish === undefined) throw unknownTag(deliveryTag);
    this.#settle(publish, failureOf(publish, ok));
  }

  #returned(message: ReturnedMessage): void {
    const publish = this.#returns.find(message);
    const { exchange, routingKey, replyCode, replyText } = message;
    if (publish === undefined) return;
    publish.returned = stackless(() => new ReturnedError(exchange, routingKey, replyCode, replyText));
  }

  #closed(failure: ClientError | undefined): void {
    const error = failure ?? new ChannelClosedError(200, 'the client closed it', '');
    const [, next] = this.#outstanding.range;
    this.#outstanding.takeTo(next - 1, (publish) => this.#settle(publish, error));
    this.#events.closed(failure);
  }

  #settle(publish: Outstanding, failure: ClientError | undefined): void {
    try {
      publish.settled(failure);
    } catch (error) {
      this.#connection.fault(error);
    }
  }
}

/** The failure of a publish. A nack takes precedence over a return, except where the return has its reason (rule K14). */
function failureOf(publish: Outstanding, ok: boolean): ClientError | undefined {
  const { returned, exchange, routingKey, isReplacing } = publish;
  if (ok || (isReplacing === true && returned !== undefined)) return returned;
  return stackless(() => new NackedError(exchange, routingKey));
}

const unknownTag = (deliveryTag: number): WireError =>
  new WireError('UNEXPECTED_FRAME', `a confirm for message ${deliveryTag}, which is not outstanding`);
