import { emptyTable, type FieldTable, methodIds, type Properties, type RecordedOrigin } from '../../message/index.js';
import {
  bindExchange,
  bindQueue,
  deleteExchange,
  deleteQueue,
  type DeleteQueueOptions,
  purgeQueue,
  unbindExchange,
  unbindQueue,
} from '../commands/binding-commands.js';
import { consume, type ConsumeOptions } from '../commands/consume.js';
import {
  declareExchange,
  declareQueue,
  type ExchangeOptions,
  type QueueOk,
  type QueueOptions,
} from '../commands/declare.js';
import { Counters } from '../counters.js';
import { AmqpError, noPreviousQueue, notImplemented, preconditionFailed } from '../errors.js';
import type { ChannelOutbox, Outcome, Settled } from '../ports.js';
import type { Scheduler } from '../scheduler/scheduler.js';
import type { VirtualHostCore } from '../virtual-host/core.js';
import type { Commit, CommitResult } from './all-or-nothing.js';
import type { Confirms } from './confirms.js';
import type { ConnectionContext } from './context.js';
import { Closing, commit, getLater, getNow } from './long-commands.js';
import { ServerClosed } from './outputs.js';
import { Publisher, type PublishOptions, type ReplaceOptions } from './publisher.js';
import { type Got, Receiver, type ReceivingChannel } from './receiver.js';
import { stepsPerCommand } from './settler.js';
import { Transaction } from './transaction.js';

/**
 * A channel, with one function for each AMQP method. Each call is a command: it runs to its end, then its outputs are
 * sent. An AmqpError closes the channel, a hard one the connection, before it is thrown (rule Q9).
 */
export class Channel implements ReceivingChannel {
  transaction: Transaction | undefined;
  readonly scheduler: Scheduler;
  readonly vhost: VirtualHostCore;
  readonly receiver: Receiver;
  readonly counters = new Counters();
  readonly #publisher = new Publisher(this);
  #lastQueue: string | undefined;
  #closing: Closing | undefined;
  #closed = false;

  constructor(
    readonly connection: ConnectionContext,
    readonly outbox: ChannelOutbox,
    readonly number: number,
  ) {
    this.vhost = connection.vhost;
    this.scheduler = this.vhost.scheduler;
    this.receiver = new Receiver(this);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  get confirms(): Confirms | undefined {
    return this.#publisher.confirms;
  }

  /** Where replies to this channel's requests go (rule S1). */
  get replyAddress(): string | undefined {
    return this.receiver.replyAddress;
  }

  /** Deliveries not settled yet. */
  get unackedCount(): number {
    return this.receiver.settler.unacked.count;
  }

  declareExchange(name: string, options: ExchangeOptions = {}): void {
    this.#command(methodIds.exchangeDeclare, () => declareExchange(this, name, options));
  }

  deleteExchange(name: string, options: { readonly ifUnused?: boolean } = {}): void {
    this.#command(methodIds.exchangeDelete, () => deleteExchange(this, name, options.ifUnused === true));
  }

  bindExchange(destination: string, source: string, bindingKey: string, args: FieldTable = emptyTable): void {
    this.#command(methodIds.exchangeBind, () => bindExchange(this, destination, source, bindingKey, args));
  }

  unbindExchange(destination: string, source: string, bindingKey: string, args: FieldTable = emptyTable): void {
    this.#command(methodIds.exchangeUnbind, () => unbindExchange(this, destination, source, bindingKey, args));
  }

  declareQueue(name: string, options: QueueOptions = {}): QueueOk {
    return this.#command(methodIds.queueDeclare, (now) => {
      const ok = declareQueue(this, name, options, now);
      this.#lastQueue = ok.queue;
      this.vhost.counters.queueDeclared++;
      return ok;
    });
  }

  bindQueue(queue: string, exchange: string, bindingKey: string, args: FieldTable = emptyTable): void {
    this.#command(methodIds.queueBind, () => bindQueue(this, queue, exchange, bindingKey, args));
  }

  unbindQueue(queue: string, exchange: string, bindingKey: string, args: FieldTable = emptyTable): void {
    this.#command(methodIds.queueUnbind, () => unbindQueue(this, queue, exchange, bindingKey, args));
  }

  purgeQueue(queue: string): number {
    return this.#command(methodIds.queuePurge, () => purgeQueue(this, queue));
  }

  deleteQueue(queue: string, options: DeleteQueueOptions = {}): number {
    return this.#command(methodIds.queueDelete, () => deleteQueue(this, queue, options));
  }

  /** `basic.qos` (rule Q4). */
  qos(prefetchCount: number, options: { readonly global?: boolean; readonly prefetchSize?: number } = {}): void {
    const { global = false, prefetchSize = 0 } = options;
    this.#command(methodIds.basicQos, () => this.receiver.limit(prefetchCount, global, prefetchSize));
  }

  consume(queue: string, options: ConsumeOptions = {}): string {
    return this.#command(methodIds.basicConsume, () => consume(this, queue, options));
  }

  /** An unknown tag is no error (rule Q1). Deliveries of the consumer stay outstanding. */
  cancel(consumerTag: string): void {
    this.#command(methodIds.basicCancel, (now) => this.receiver.cancel(consumerTag, now));
  }

  /** @returns the tag of its confirm, counted from 1; 0 when confirms are not on */
  publish(
    exchange: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array,
    options?: PublishOptions,
  ): number {
    const now = this.#begin();
    try {
      return this.#publisher.publish(exchange, routingKey, properties, body, options, now);
    } catch (error) {
      throw this.#failed(error, methodIds.basicPublish);
    } finally {
      this.scheduler.end(now);
    }
  }

  /**
   * Publishes a message in place of a delivery of this channel, which is acked in the same step (rule K14). An extension of ours.
   * @returns the tag of its confirm
   */
  replace(
    deliveryTag: number,
    exchange: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array,
    options?: ReplaceOptions,
  ): number {
    return this.#command(methodIds.basicPublish, (now) =>
      this.#publisher.replace(deliveryTag, exchange, routingKey, properties, body, options, now),
    );
  }

  /**
   * A publish whose outcome is known at once, for hosts in the same process: no confirm and no return follow. An extension of
   * ours. Within {@link Broker.batch} it is one step with the ack of the message that it replaces.
   * @param settled called when the message is durable, or with the error; never if a queue refused the message
   * @param origin recorded for the message that this one replaces; never taken from headers
   */
  publishNow(
    exchange: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array,
    settled?: Settled,
    origin?: RecordedOrigin,
  ): Outcome {
    const now = this.#begin();
    try {
      return this.#publisher.publishNow(exchange, routingKey, properties, body, settled, origin, now);
    } catch (error) {
      throw this.#failed(error, methodIds.basicPublish);
    } finally {
      this.scheduler.end(now);
    }
  }

  /**
   * Publishes messages and acks a delivery of this channel, in one step of the journal: all of it or nothing (rule K15). A commit that is
   * refused leaves the delivery outstanding and the channel open. For hosts in the same process; an extension of ours.
   */
  commitNow(commit: Commit): CommitResult {
    return this.#command(methodIds.basicPublish, (now) => this.#publisher.commit(commit, now));
  }

  /**
   * The error with which a publish to this address would end now: it checks the rights of the user and the exchange
   * (rule K7). A listener calls it before it stores a body. The channel stays open.
   */
  refusal(exchange: string, routingKey: string, options?: PublishOptions): AmqpError | undefined {
    return this.#publisher.refusal(exchange, routingKey, options);
  }

  /** `basic.get`, answered at once, however many expired messages are removed first. */
  get(queue: string, options: { readonly noAck?: boolean } = {}): Got | undefined {
    return this.#command(methodIds.basicGet, (now) => getNow(this, queue, options.noAck === true, now));
  }

  /**
   * `basic.get` whose answer may come in a later turn, because each turn removes only some of very many expired
   * messages. An error in a later turn closes the channel, and its outbox gets the error.
   */
  fetch(queue: string, options: { readonly noAck?: boolean }, answer: (got: Got | undefined) => void): void {
    this.#command(methodIds.basicGet, (now) => getLater(this, queue, options.noAck === true, now, answer));
  }

  /**
   * Expires some messages at the head of a queue, or drops them for a length limit, so that a {@link get} has less to
   * do.
   * @returns whether there may be more
   */
  expireSome(queue: string): boolean {
    const found = this.vhost.queues.get(queue);
    if (found === undefined) return false;
    let count = 0;
    this.scheduler.batch(() => {
      const now = this.scheduler.clock.now();
      count = found.dropExcess(now, stepsPerCommand);
      count += found.expire(now, stepsPerCommand - count);
    });
    return count >= stepsPerCommand;
  }

  ack(deliveryTag: number, multiple = false): void {
    const now = this.#begin(true);
    try {
      this.receiver.settler.settle(deliveryTag, multiple, 'ack', undefined, now);
    } catch (error) {
      throw this.#failed(error, methodIds.basicAck);
    } finally {
      this.scheduler.endAck();
    }
  }

  /** @param headers added to the dead letters; an extension of ours, AMQP's nack has none */
  nack(deliveryTag: number, multiple = false, requeue = true, headers?: FieldTable): void {
    this.#command(methodIds.basicNack, (now) =>
      this.receiver.settler.settle(deliveryTag, multiple, requeue ? 'return' : 'discard', headers, now),
    );
  }

  /** @param headers added to the dead letter; an extension of ours, AMQP's reject has none */
  reject(deliveryTag: number, requeue = true, headers?: FieldTable): void {
    const now = this.#begin();
    try {
      this.receiver.settler.settle(deliveryTag, false, requeue ? 'requeue' : 'reject', headers, now);
    } catch (error) {
      throw this.#failed(error, methodIds.basicReject);
    } finally {
      this.scheduler.end(now);
    }
  }

  /** Rule Q5. */
  recover(requeue: boolean): void {
    this.#command(methodIds.basicRecover, (now) => {
      if (!requeue) throw notImplemented('requeue=false');
      this.receiver.settler.recover(now);
    });
  }

  confirmSelect(): void {
    this.#command(methodIds.confirmSelect, () => {
      if (this.transaction !== undefined) throw preconditionFailed('cannot switch from tx to confirm mode');
      this.#publisher.select();
    });
  }

  txSelect(): void {
    this.#command(methodIds.txSelect, () => {
      if (this.confirms !== undefined) throw preconditionFailed('cannot switch from confirm to tx mode');
      this.transaction ??= new Transaction();
    });
  }

  /**
   * Commits the transaction: first its publishes, then its settlements (rule K8). Many of them are done in turns; an error in a later
   * turn closes the channel, and its outbox gets the error.
   * @param settled called when the transaction is durable, or with the error
   */
  txCommit(settled?: Settled): void {
    this.#command(methodIds.txCommit, (now) => {
      const publish = this.#publisher.sendHeld.bind(this.#publisher);
      commit(this, this.#held().take(), publish, settled, now);
    });
  }

  txRollback(): void {
    this.#command(methodIds.txRollback, () => this.#forgetHeld(this.#held()));
  }

  /** The client's side is full: no deliveries until {@link resume}. */
  pause(): void {
    this.receiver.isFlowing = false;
  }

  resume(): void {
    if (this.#closed) return;
    this.scheduler.batch(() => {
      this.receiver.isFlowing = true;
      this.receiver.reviveAll();
    });
  }

  /**
   * Closes the channel: removes its consumers, returns unsettled deliveries, and discards its transaction. Idempotent.
   * @param closed called when all of that is done, now or in a later turn
   */
  close(closed?: () => void): void {
    this.scheduler.batch(() => this.#close());
    if (closed !== undefined) this.#closing?.after(closed);
  }

  /** Part of a command: the server closes the channel, and sends the error when everything is released. */
  closeWith(error: AmqpError): void {
    this.#close();
    this.#closing?.after(() => this.scheduler.batch(() => this.scheduler.output(new ServerClosed(this, error))));
  }

  /** Part of a command: ends all output. @param closing releases consumers and deliveries */
  stop(closing: Closing): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#closing = closing;
    this.receiver.stop();
    this.connection.forget(this);
  }

  /** See {@link Receiver.releaseSome}. */
  releaseSome(now: number, limit: number): number {
    if (this.transaction !== undefined) this.#forgetHeld(this.transaction);
    return this.receiver.releaseSome(now, limit);
  }

  /** An empty name is the queue last declared on this channel (rule O2). @throws 404 */
  queueName(name: string): string {
    if (name !== '') return name;
    if (this.#lastQueue === undefined) throw noPreviousQueue();
    return this.#lastQueue;
  }

  #command<T>(method: number, run: (now: number) => T): T {
    const now = this.#begin();
    try {
      return run(now);
    } catch (error) {
      throw this.#failed(error, method);
    } finally {
      this.scheduler.end(now);
    }
  }

  /** Part of a command: ends all output, and releases consumers and deliveries in turns. */
  #close(): void {
    if (this.#closed) return;
    const closing = new Closing([this], this.vhost);
    this.stop(closing);
    closing.start();
  }

  #begin(isAck = false): number {
    if (this.#closed) throw new AmqpError('CHANNEL_ERROR', "expected 'channel.open'");
    return isAck ? this.scheduler.beginAck() : this.scheduler.begin();
  }

  #failed(error: unknown, method: number): unknown {
    if (!(error instanceof AmqpError)) return error;
    error.blame(method);
    if (error.closes === 'channel') this.#close();
    else this.connection.closeWith(error);
    return error;
  }

  /** Closes the channel, or the connection, for an error in a later turn of a command. */
  closeLater(error: AmqpError, method: number): void {
    if (this.#closed) return;
    error.blame(method);
    this.scheduler.batch(() => {
      if (error.closes === 'channel') this.closeWith(error);
      else this.connection.closeWith(error);
    });
  }

  /** Discards a transaction: the deliveries that it settled are outstanding again (rule K8). */
  #forgetHeld(held: Transaction): void {
    const records = held.take().settlements.flatMap((settlement) => settlement.records);
    if (records.length > 0) this.receiver.settler.restore(records);
  }

  #held(): Transaction {
    if (this.transaction === undefined) throw preconditionFailed('channel is not transactional');
    return this.transaction;
  }
}
