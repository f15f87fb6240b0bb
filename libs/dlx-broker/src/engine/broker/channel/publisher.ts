import {
  compact,
  isEmptyTable,
  Message,
  messageOf,
  notesOf,
  type Properties,
  type RecordedOrigin,
  sorted,
  withHeaders,
} from '../../message/index.js';
import {
  carbonCopiesOf,
  checkDeliveryMode,
  checkLength,
  checkSize,
  checkTable,
  checkUserId,
  openExchange,
  parseExpiration,
  withoutBcc,
} from '../commands/checks.js';
import { AmqpError, notImplemented, preconditionFailed } from '../errors.js';
import type { Exchange } from '../exchange/exchange.js';
import { Outcome, type Settled } from '../ports.js';
import { replyQueue } from '../virtual-host/reply-addresses.js';
import { type Commit, commitAll, type CommitHost, type CommitResult } from './all-or-nothing.js';
import { Confirms } from './confirms.js';
import { type Outstanding, Pause, ReturnedMessage } from './outputs.js';
import type { Settler } from './settler.js';
import type { HeldPublish, TransactionalChannel } from './transaction.js';

/** How a message is published: the arguments of basic.publish beside exchange, key, properties and body. */
export interface PublishOptions {
  /** Return it when no queue gets it (rule K4). */
  readonly mandatory?: boolean;
  /** Not implemented, as in RabbitMQ (rule K5). */
  readonly immediate?: boolean;
}

/** How a message replaces a delivery (rule K14). */
export interface ReplaceOptions extends PublishOptions {
  /** The error because of which a listener has not stored the body. The message is returned without the body, and nacked. */
  readonly refusal?: AmqpError;
  /** The origin that the headers of the new message name. It is recorded if it is that of the delivery, and if this user may publish there. */
  readonly claimed?: RecordedOrigin | undefined;
}

interface PublishingChannel extends TransactionalChannel {
  readonly receiver: { readonly settler: Settler };
  /** Where replies to this channel's requests go (rule S1). */
  readonly replyAddress: string | undefined;
}

/** The error of a delivery that nothing can replace, because it timed out: its message is in its queue again (rule W19). */
const lateIn = ({ deliveryTag, isReleased }: Outstanding): AmqpError | undefined =>
  isReleased ? preconditionFailed(`delivery ${deliveryTag} timed out and has returned to its queue`) : undefined;

/** A channel's publishing half: checks, confirms, returns (section K of the rules). */
export class Publisher {
  #confirms: Confirms | undefined;

  constructor(readonly channel: PublishingChannel) {}

  get confirms(): Confirms | undefined {
    return this.#confirms;
  }

  /** Idempotent (rule K9). */
  select(): void {
    this.#confirms ??= new Confirms(this.channel);
  }

  /** @returns the tag of its confirm, 0 when the channel has none */
  publish(
    exchangeName: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array,
    options: PublishOptions | undefined,
    now: number,
  ): number {
    if (options?.immediate === true) throw notImplemented('immediate=true');
    const exchange = this.#exchange(exchangeName, routingKey, body.length);
    const message = this.#message(exchangeName, routingKey, properties, body);
    const mandatory = options?.mandatory === true;
    const held = this.channel.transaction;
    if (held !== undefined) {
      this.channel.vhost.globals.receivedConfirm++; // as in RabbitMQ, where a commit confirms
      held.publishes.push({
        message,
        exchange,
        mandatory,
        routed: this.channel.vhost.routing.routeAhead(message, exchange),
      });
      return 0;
    }
    const tag = this.#confirms === undefined ? 0 : this.#confirms.next();
    const { sequence } = this.channel.scheduler;
    const accepted = this.send(message, exchange, mandatory, now);
    if (tag !== 0) this.#confirm(tag, accepted, sequence);
    return tag;
  }

  /**
   * Publishes a message, and acks a delivery of this channel, in one step of the journal (rule K14). The delivery stays outstanding when
   * a queue refuses the message, and when the message is returned: no queue gets it, the exchange or a permission is missing, or the
   * delivery timed out.
   * @returns the tag of its confirm
   * @throws 406 for a channel without confirms, and for a delivery that is not outstanding
   */
  replace(
    deliveryTag: number,
    exchangeName: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array,
    options: ReplaceOptions | undefined,
    now: number,
  ): number {
    const confirms = this.#confirms;
    const { scheduler, vhost, receiver, counters } = this.channel;
    if (confirms === undefined) throw preconditionFailed('channel is not in confirm mode');
    const replaced = receiver.settler.unacked.get(deliveryTag);
    if (replaced === undefined) throw preconditionFailed(`unknown delivery tag ${deliveryTag}`);
    checkSize(body.length, vhost.profile.maxMessageSize);
    if (options?.immediate === true) throw notImplemented('immediate=true');
    const exchange = lateIn(replaced) ?? options?.refusal ?? this.#exchangeOrRefusal(exchangeName, routingKey);
    if (exchange instanceof AmqpError) {
      if (exchange.closes === 'connection') throw exchange;
      const tag = confirms.next();
      this.#return(new Message(exchangeName, routingKey, properties, body), exchange);
      confirms.settle(tag, tag, options?.refusal === undefined);
      return tag;
    }
    const origin = options?.claimed && this.#provenOrigin(replaced, options.claimed);
    const message = this.#message(exchangeName, routingKey, properties, body, origin);
    const { sequence } = scheduler;
    const tag = confirms.next();
    counters.publish++;
    const outcome = vhost.routing.publish(message, exchange, now);
    const isTaken = this.#concluded(outcome, message, true);
    if (isTaken && (outcome & Outcome.Routed) !== 0) receiver.settler.settle(deliveryTag, false, 'ack', undefined, now);
    if (!isTaken || scheduler.sequence === sequence) confirms.settle(tag, tag, isTaken);
    else scheduler.onDurable((failure) => this.#replaced(tag, message, failure));
    return tag;
  }

  /**
   * The origin of a message that replaces a delivery: the claimed one, if it is that of the delivery. The client may have changed the
   * body, so it needs the right to publish there: a redrive publishes the body with the rights of another user.
   */
  #provenOrigin({ message, queue }: Outstanding, claimed: RecordedOrigin): RecordedOrigin | undefined {
    const { exchange, routingKey } = message.origin ?? message;
    if (exchange !== claimed.exchange || routingKey !== claimed.routingKey) return undefined;
    if (this.#exchangeOrRefusal(exchange, routingKey) instanceof AmqpError) return undefined;
    const failedIn = message.origin?.queue;
    return { exchange, routingKey, queue: failedIn !== undefined && claimed.queue === failedIn ? failedIn : queue };
  }

  /**
   * Confirms a replacement when the journal has stored it, or has failed. After a failure the message and the ack are in memory only.
   * The client cannot try again, because the delivery is not outstanding any more: it gets the message back with 541, and a nack.
   */
  #replaced(tag: number, message: Message, failure: Error | undefined): void {
    if (failure !== undefined) this.#return(message, new AmqpError('INTERNAL_ERROR', failure.message));
    this.#confirms?.settle(tag, tag, failure === undefined);
  }

  #return(message: Message, { code, message: text }: AmqpError): void {
    this.#confirms?.close();
    this.channel.scheduler.output(new ReturnedMessage(this.channel, message, code, text));
  }

  /** The error with which a publish to this address would end now. Properties and body are not checked. */
  refusal(exchange: string, routingKey: string, options: PublishOptions | undefined): AmqpError | undefined {
    if (options?.immediate === true) return notImplemented('immediate=true');
    const found = this.#exchangeOrRefusal(exchange, routingKey);
    return found instanceof AmqpError ? found : undefined;
  }

  #exchangeOrRefusal(name: string, routingKey: string): Exchange | AmqpError {
    try {
      return this.#exchange(name, routingKey, 0);
    } catch (error) {
      if (error instanceof AmqpError) return error;
      throw error;
    }
  }

  /** A publish without confirm or return: the outcome is known at once. */
  publishNow(
    exchangeName: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array,
    settled: Settled | undefined,
    origin: RecordedOrigin | undefined,
    now: number,
  ): Outcome {
    const exchange = this.#exchange(exchangeName, routingKey, body.length);
    const message = this.#message(exchangeName, routingKey, properties, body, origin);
    const { scheduler, vhost, counters } = this.channel;
    const { sequence } = scheduler;
    counters.publish++;
    const outcome = vhost.routing.publish(message, exchange, now);
    if ((outcome & Outcome.Routed) === 0) {
      counters.returnUnroutable++; // the caller gets the outcome
      vhost.counters.returnUnroutable++;
    }
    if (settled !== undefined && (outcome & Outcome.Refused) === 0) scheduler.onStored(sequence, settled);
    return outcome;
  }

  /**
   * Publishes messages, and acks a delivery of this channel: all of it, or nothing (rule K15).
   * @throws 406 for a delivery that is not outstanding, and on a channel with transactions
   */
  commit({ deliveryTag, publications, settled }: Commit, now: number): CommitResult {
    const { channel } = this;
    const { settler } = channel.receiver;
    if (channel.transaction !== undefined) throw preconditionFailed('channel is transactional');
    const replaced = settler.unacked.get(deliveryTag);
    if (replaced === undefined) throw preconditionFailed(`unknown delivery tag ${deliveryTag}`);
    const error = lateIn(replaced);
    if (error !== undefined) return { outcome: 'failed', index: 0, error };
    const host: CommitHost = {
      channel,
      checked: ({ exchange, routingKey, properties, body, origin }) => ({
        exchange: this.#exchange(exchange, routingKey, body.length),
        message: this.#message(exchange, routingKey, properties, body, origin),
      }),
      ack: (then) => settler.settle(deliveryTag, false, 'ack', undefined, then),
    };
    return commitAll(host, publications, settled, now);
  }

  /** Routes a checked message to its queues. @returns false when one refused it (rule C10) */
  send(message: Message, exchange: Exchange, mandatory: boolean, now: number): boolean {
    this.channel.counters.publish++;
    return this.#concluded(this.channel.vhost.routing.publish(message, exchange, now), message, mandatory);
  }

  /** Publishes a message that a transaction held. @returns false when a queue refused it (rule C10) */
  sendHeld({ message, exchange, mandatory, routed }: HeldPublish, now: number): boolean {
    this.channel.counters.publish++;
    return this.#concluded(
      this.channel.vhost.routing.publishRouted(message, exchange, routed, now),
      message,
      mandatory,
    );
  }

  #concluded(outcome: Outcome, message: Message, mandatory: boolean): boolean {
    if ((outcome & Outcome.Routed) === 0) this.#unroutable(message, mandatory);
    // The queue drops messages in turns: later answers to this client wait for these turns.
    if ((outcome & Outcome.Dropping) !== 0) this.channel.scheduler.output(new Pause(this.channel.connection));
    return (outcome & Outcome.Refused) === 0;
  }

  #unroutable(message: Message, mandatory: boolean): void {
    const { channel } = this;
    const counter = mandatory ? 'returnUnroutable' : 'dropUnroutable';
    channel.counters[counter]++;
    channel.vhost.counters[counter]++;
    if (!mandatory) return;
    this.#confirms?.close();
    channel.scheduler.output(new ReturnedMessage(channel, message));
  }

  /**
   * If the journal has received the message, its ack waits until the message is durable, and becomes a nack if the
   * journal fails. A nack goes out at once, and so does the ack of a message that is not stored.
   */
  #confirm(tag: number, ok: boolean, sequence: number): void {
    const { scheduler } = this.channel;
    const confirms = this.#confirms as Confirms;
    if (ok && scheduler.sequence !== sequence) confirms.settleWhenDurable(tag);
    else confirms.settle(tag, tag, ok);
  }

  /** In the order of rule K7: size, permission, existence, internal, topic permission. */
  #exchange(name: string, routingKey: string, size: number): Exchange {
    const { vhost, connection } = this.channel;
    checkSize(size, vhost.profile.maxMessageSize);
    if (connection.user !== undefined) vhost.check(connection.user, 'write', 'exchange', name);
    const exchange = openExchange(vhost, name);
    if (connection.user !== undefined) vhost.checkTopic(connection.user, 'write', exchange, routingKey);
    return exchange;
  }

  /** Checks the rest in the order of rule K7: reply-to, user-id, expiration, delivery mode, carbon copies. */
  #message(
    exchange: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array,
    origin?: RecordedOrigin,
  ): Message {
    checkLength('routing key', routingKey);
    checkTable('header', properties.headers);
    let sent = properties;
    if (sent.replyTo === replyQueue) sent = { ...sent, replyTo: this.#replyAddress() }; // rule S1
    const { profile } = this.channel.vhost;
    const { checksUserIdLast } = profile;
    if (sent.userId !== undefined && !checksUserIdLast) checkUserId(sent, this.channel.connection.user);
    if (sent.expiration !== undefined) {
      const expiration = String(parseExpiration(sent.expiration));
      if (profile.parsesExpiration && expiration !== sent.expiration) sent = { ...sent, expiration }; // rule W4
    }
    if (!profile.takesAnyDeliveryMode) checkDeliveryMode(sent.deliveryMode);
    if (sent.userId !== undefined && checksUserIdLast) checkUserId(sent, this.channel.connection.user);
    const { headers } = sent;
    if (headers === undefined || isEmptyTable(headers)) {
      return origin === undefined
        ? new Message(exchange, routingKey, sent, body)
        : messageOf(exchange, routingKey, sent, body, notesOf(undefined, origin));
    }
    const copies = carbonCopiesOf(headers);
    if (copies !== undefined && profile.checksCopiedTopics) this.#checkTopics(exchange, [...copies.cc, ...copies.bcc]);
    const kept = withoutBcc(headers);
    const visible = compact(profile.sortsHeaders ? sorted(kept) : kept);
    if (visible !== headers) sent = withHeaders(sent, visible, sent.expiration);
    return messageOf(exchange, routingKey, sent, body, notesOf(copies, origin));
  }

  /** Rule N5. */
  #checkTopics(name: string, routingKeys: readonly string[]): void {
    const { vhost, connection } = this.channel;
    const exchange = openExchange(vhost, name);
    for (const key of routingKeys) vhost.checkTopic(connection.user, 'write', exchange, key);
  }

  #replyAddress(): string {
    const address = this.channel.replyAddress;
    if (address === undefined) throw preconditionFailed('fast reply consumer does not exist');
    return address;
  }
}
