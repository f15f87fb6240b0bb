import type { FieldTable, Properties } from '../../../message/index.js';
import type { ClientError, ConnectError, ConnectionLostError } from './errors.js';

/** Called once: with a failure, or with nothing. */
export type Done = (failure?: ClientError) => void;

/** Called once: with a failure, or with what the server answered. */
export type Answer<T> = (...answer: [failure: undefined, value: T] | [failure: ClientError, value: undefined]) => void;

/** What a server says of itself. */
export interface ServerDescription {
  /** As sent: `product`, `version`, `capabilities` ... */
  readonly properties: FieldTable;
  readonly product: string;
  readonly version: string;
  /** Whether the server announced a capability. */
  can(capability: string): boolean;
}

/** What a connection reports. An exception of a listener goes to `fault`; none of them ends the connection. */
export interface ConnectionEvents {
  /** The virtual host is open: channels may be. */
  opened(server: ServerDescription): void;
  /**
   * Called once, as the last event, when everything outstanding has failed.
   * @param failure a `ConnectError` before `opened`; `ConnectionLostError` after; undefined when the client closed it
   */
  closed(failure?: ConnectError | ConnectionLostError): void;
  /** The server is short of memory or disk: it reads nothing more, so publishes stay unconfirmed. */
  blocked?(reason: string): void;
  unblocked?(): void;
  /** Few bytes wait to be sent again, after `isCongested` was true. */
  drained?(): void;
  /** A callback threw: a fault of the code that gave it. */
  fault(error: unknown): void;
}

/** A connection to a server. Nothing of it throws; nothing of it makes a promise. */
export interface AmqpConnection {
  /** Undefined until it is opened. */
  readonly server: ServerDescription | undefined;
  readonly isOpen: boolean;
  readonly isBlocked: boolean;
  /** More than the high-water mark waits to be sent. Publishing goes on, at the cost of memory. */
  readonly isCongested: boolean;
  /** Bytes that wait to be sent. */
  readonly waiting: number;
  /**
   * Opens a channel, which may be used at once: its methods go out behind `channel.open`.
   * @param done called when it is open, or will never be
   */
  openChannel(events: ChannelEvents, done?: Done): AmqpChannel;
  /** Gives the server a new secret for an open connection (OAuth tokens). */
  updateSecret(secret: string, reason: string, done: Done): void;
  /**
   * Closes it: all that is outstanding fails. What was published and not confirmed is in doubt, so wait for confirms first.
   * `closed` follows when the server has answered, or its time is over.
   */
  close(): void;
  /** Ends it without a word, as a fault of the network would. */
  destroy(): void;
  /** Reports what a callback threw to {@link ConnectionEvents.fault}. Does not throw. */
  fault(error: unknown): void;
}

/** What a channel reports. */
export interface ChannelEvents {
  /**
   * Called once, when all that was outstanding has failed. Other channels are not touched.
   * @param failure `ChannelClosedError`, or what ended the connection; undefined when the client closed it
   */
  closed(failure?: ClientError): void;
  /** A mandatory message came back that no {@link ConfirmPublisher} knows. */
  returned?(message: ReturnedMessage): void;
  /**
   * A confirm came, in the mode of `confirmSelect`; a publisher uses it.
   * @throws WireError if it confirms what was not published, which ends the connection; anything else goes to `fault`
   */
  confirmed?(deliveryTag: number, multiple: boolean, ok: boolean): void;
  /** The server asks for a pause of publishing, or ends it. RabbitMQ never does. */
  flow?(isActive: boolean): void;
}

/** A message that the server sent. */
export interface ReceivedMessage {
  readonly exchange: string;
  readonly routingKey: string;
  /** Read when asked for first. Unchanged ones go out as they came in, byte for byte, when they are published again. */
  readonly properties: Properties;
  /** The headers cannot be decoded (nested above 64 levels, unknown types): absent, but published again byte for byte. */
  readonly isUndecodable: boolean;
  readonly body: Buffer;
}

export interface ReturnedMessage extends ReceivedMessage {
  readonly replyCode: number;
  readonly replyText: string;
}

/** A message of a consumer. */
export interface Delivery extends ReceivedMessage {
  readonly consumerTag: string;
  /** Counts up in its channel. */
  readonly deliveryTag: number;
  readonly redelivered: boolean;
}

/** A message of `get`. */
export interface GotMessage extends Omit<Delivery, 'consumerTag'> {
  /** Messages that are left in the queue. */
  readonly messageCount: number;
}

export interface ConsumerEvents {
  delivered(delivery: Delivery): void;
  /** The server cancelled it: its queue was deleted, or lost its node. Not called when the channel ends. */
  cancelled(): void;
}

export interface QueueOptions {
  readonly durable?: boolean;
  readonly exclusive?: boolean;
  readonly autoDelete?: boolean;
  readonly arguments?: FieldTable;
}

export interface ExchangeOptions {
  readonly durable?: boolean;
  readonly autoDelete?: boolean;
  readonly internal?: boolean;
  readonly arguments?: FieldTable;
}

export interface QueueDeclared {
  readonly queue: string;
  readonly messageCount: number;
  readonly consumerCount: number;
}

export interface ConsumeOptions {
  /** Default: a name that is unique in the channel. */
  readonly consumerTag?: string;
  readonly noAck?: boolean;
  readonly exclusive?: boolean;
  readonly arguments?: FieldTable;
}

/**
 * A channel. Methods that the server answers are sent at once, one behind the other; their callbacks come in that order. On
 * a channel that is closed a callback gets the failure within the call.
 */
export interface AmqpChannel {
  readonly number: number;
  readonly isOpen: boolean;
  readonly connection: AmqpConnection;
  declareQueue(queue: string, options: QueueOptions, answer: Answer<QueueDeclared>): void;
  /** A passive declare: 404 closes the channel. */
  checkQueue(queue: string, answer: Answer<QueueDeclared>): void;
  bindQueue(queue: string, exchange: string, routingKey: string, args: FieldTable | undefined, done: Done): void;
  unbindQueue(queue: string, exchange: string, routingKey: string, args: FieldTable | undefined, done: Done): void;
  purgeQueue(queue: string, answer: Answer<number>): void;
  deleteQueue(
    queue: string,
    options: { readonly ifUnused?: boolean; readonly ifEmpty?: boolean },
    answer: Answer<number>,
  ): void;
  declareExchange(exchange: string, type: string, options: ExchangeOptions, done: Done): void;
  /** A passive declare: 404 closes the channel. */
  checkExchange(exchange: string, done: Done): void;
  bindExchange(destination: string, source: string, key: string, args: FieldTable | undefined, done: Done): void;
  unbindExchange(destination: string, source: string, key: string, args: FieldTable | undefined, done: Done): void;
  deleteExchange(exchange: string, options: { readonly ifUnused?: boolean }, done: Done): void;
  /** @param prefetchCount unacknowledged deliveries at most of each consumer that begins after it; 0 for no limit */
  qos(prefetchCount: number, done: Done): void;
  /** @param answer gets the consumer tag, before the first delivery. @returns the tag */
  consume(queue: string, options: ConsumeOptions, events: ConsumerEvents, answer: Answer<string>): string;
  /** Deliveries may come until `done`. */
  cancel(consumerTag: string, done: Done): void;
  get(queue: string, options: { readonly noAck?: boolean }, answer: Answer<GotMessage | undefined>): void;
  ack(deliveryTag: number, multiple?: boolean): void;
  nack(deliveryTag: number, options?: { readonly multiple?: boolean; readonly requeue?: boolean }): void;
  reject(deliveryTag: number, requeue: boolean): void;
  recover(done: Done): void;
  confirmSelect(done: Done): void;
  txSelect(done: Done): void;
  txCommit(done: Done): void;
  txRollback(done: Done): void;
  /**
   * Publishes without a confirm.
   * @returns why it was not sent; undefined when it was
   */
  publish(
    exchange: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array,
    mandatory?: boolean,
  ): ClientError | undefined;
  /** Closes it. What is unacknowledged is requeued, and what is not confirmed is in doubt. */
  close(done?: Done): void;
}

/** Publishes with confirms on a channel of its own. */
export interface ConfirmPublisher {
  /** Publishes that are neither confirmed nor failed. */
  readonly outstanding: number;
  readonly isOpen: boolean;
  /**
   * Publishes a message; a body of any size is split into frames. The body must not change until `done`.
   * @param done called once: without a failure when the server has taken the message; `NackedError`; `ReturnedError` for a
   *   mandatory message that no queue got; `UnsendableError`, within the call; `ChannelClosedError` or `ConnectionLostError`,
   *   after which it is unknown whether the server took it
   */
  publish(
    exchange: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array,
    mandatory: boolean,
    done: Done,
  ): void;
  close(done?: Done): void;
}
