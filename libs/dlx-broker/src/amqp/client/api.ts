import type { FieldTable, Properties } from '../../engine/message/index.js';
import type { ClientError, ConnectionClosedError, ConnectionFailedError, ReturnedError } from './errors.js';

/** Called once: with a failure, or with nothing. */
export type Done = (failure?: ClientError) => void;

/** Called once: with a failure, or with the answer of the server. */
export type Answer<T> = (...answer: [failure: undefined, value: T] | [failure: ClientError, value: undefined]) => void;

/** The server properties of `connection.start`. */
export interface ServerDescription {
  /** As sent: `product`, `version`, `capabilities` ... */
  readonly properties: FieldTable;
  readonly product: string;
  readonly version: string;
  /** Whether the server announced a capability. */
  can(capability: string): boolean;
}

/** The events of a connection. An exception of a listener goes to `fault`, and does not end the connection. */
export interface ConnectionEvents {
  /** The virtual host is open, and channels can be opened. */
  opened(server: ServerDescription): void;
  /**
   * Called once, as the last event, when everything outstanding has failed.
   * @param failure a `ConnectionFailedError` before `opened`; `ConnectionClosedError` after; undefined when the client closed it
   */
  closed(failure?: ConnectionFailedError | ConnectionClosedError): void;
  /** The server is short of memory or disk. It stops reading from this connection, so publishes stay unconfirmed. */
  blocked?(reason: string): void;
  unblocked?(): void;
  /** The output was sent, after `isCongested` was true. */
  drained?(): void;
  /** A callback of the application threw. */
  fault(error: unknown): void;
}

/** A connection to a server. Its methods do not throw, and return no promises. */
export interface AmqpConnection {
  /** Undefined until the connection is open. */
  readonly server: ServerDescription | undefined;
  readonly isOpen: boolean;
  readonly isBlocked: boolean;
  /** True while more bytes wait to be sent than the high-water mark. A publish is still accepted, and uses memory. */
  readonly isCongested: boolean;
  /**
   * Opens a channel. It can be used at once, because its methods are sent after `channel.open`. If it cannot be opened, it is not
   * open when it is returned, and `closed` follows.
   * @param done called when the channel is open, or cannot be opened
   */
  openChannel(events: ChannelEvents, done?: Done): AmqpChannel;
  /**
   * Calls back once: before the output of this turn is sent, or, if that is earlier, before the next method that the server answers. The
   * connection may be closed by then. @param act does not throw
   */
  atEndOfTurn(act: () => void): void;
  /**
   * Closes the connection. All outstanding calls fail. Wait for confirms before: an unconfirmed message may be lost. The event `closed`
   * follows when the server has answered, or after `closeTimeout`.
   */
  close(): void;
  /** Closes the socket without `connection.close`. @param why the failure that `closed` gets; by default it gets none */
  destroy(why?: string): void;
  /** Reports what a callback threw to {@link ConnectionEvents.fault}. Does not throw. */
  fault(error: unknown): void;
}

/** The events of a channel. */
export interface ChannelEvents {
  /**
   * Called once, after all outstanding calls have failed. Other channels stay open.
   * @param failure `ChannelClosedError`, or the error that ended the connection; undefined when the client closed it
   */
  closed(failure?: ClientError): void;
  /** The server returned a mandatory message. */
  returned?(message: ReturnedMessage): void;
  /**
   * A confirm came, in the mode of `confirmSelect`; a publisher uses it.
   * @throws WireError for a tag that was never published, which ends the connection; other exceptions go to `fault`
   */
  confirmed?(deliveryTag: number, multiple: boolean, ok: boolean): void;
}

/** A message that the server sent. */
export interface ReceivedMessage {
  readonly exchange: string;
  readonly routingKey: string;
  /** Decoded at the first read. If they are published again unchanged, the bytes on the wire stay the same. */
  readonly properties: Properties;
  /** True if the headers cannot be decoded (more than 64 levels, unknown types). They are absent, but a republish sends their bytes. */
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
  /** Unique in its channel, and ascending. */
  readonly deliveryTag: number;
  readonly redelivered: boolean;
}

/** A message of `get`. */
export interface GotMessage extends Omit<Delivery, 'consumerTag'> {
  /** The number of messages left in the queue. */
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
 * A channel. Methods are sent at once, without waiting for the answers before, and their callbacks are called in the same order. On a
 * closed channel the callback gets the failure before the method returns.
 */
export interface AmqpChannel {
  readonly number: number;
  readonly isOpen: boolean;
  readonly connection: AmqpConnection;
  declareQueue(queue: string, options: QueueOptions, answer: Answer<QueueDeclared>): void;
  /** A passive declare: 404 closes the channel. */
  checkQueue(queue: string, answer: Answer<QueueDeclared>): void;
  bindQueue(queue: string, exchange: string, routingKey: string, args: FieldTable | undefined, done: Done): void;
  deleteQueue(
    queue: string,
    options: { readonly ifUnused?: boolean; readonly ifEmpty?: boolean },
    answer: Answer<number>,
  ): void;
  declareExchange(exchange: string, type: string, options: ExchangeOptions, done: Done): void;
  /** A passive declare: 404 closes the channel. */
  checkExchange(exchange: string, done: Done): void;
  bindExchange(destination: string, source: string, key: string, args: FieldTable | undefined, done: Done): void;
  deleteExchange(exchange: string, options: { readonly ifUnused?: boolean }, done: Done): void;
  /** @param prefetchCount unacknowledged deliveries at most of each consumer that begins after it; 0 for no limit */
  qos(prefetchCount: number, done: Done): void;
  /** @param answer gets the consumer tag, before the first delivery. @returns the tag */
  consume(queue: string, options: ConsumeOptions, events: ConsumerEvents, answer: Answer<string>): string;
  /** Cancels a consumer. Deliveries may arrive until `done` is called. */
  cancel(consumerTag: string, done: Done): void;
  get(queue: string, options: { readonly noAck?: boolean }, answer: Answer<GotMessage | undefined>): void;
  ack(deliveryTag: number, multiple?: boolean): void;
  nack(deliveryTag: number, options?: { readonly multiple?: boolean; readonly requeue?: boolean }): void;
  reject(deliveryTag: number, requeue: boolean): void;
  confirmSelect(done: Done): void;
  /**
   * Publishes without a confirm.
   * @param replaced a delivery of this channel that the server acks in the same step, where {@link ServerDescription} says `replace`
   * @returns why it was not sent; undefined when it was
   */
  publish(
    exchange: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array,
    mandatory?: boolean,
    replaced?: number,
  ): ClientError | undefined;
  /** Closes the channel. The server requeues unacknowledged messages. An unconfirmed message may be lost. */
  close(done?: Done): void;
}

/**
 * A message to be published, which is kept until the server has answered. It must not change until then, and be outstanding on one
 * channel only.
 */
export interface Sendable {
  readonly exchange: string;
  readonly routingKey: string;
  readonly properties: Properties;
  readonly body: Uint8Array;
  readonly mandatory: boolean;
  /** Set by the publisher when the server returned the message. The confirm follows. */
  returned: ReturnedError | undefined;
  /** Called once, see {@link ConfirmPublisher.publish}. */
  settled(failure: ClientError | undefined): void;
}

/** Publishes with confirms on a channel of its own. */
export interface ConfirmPublisher {
  /** Its channel. */
  readonly channel: AmqpChannel;
  /** Publishes that are neither confirmed nor failed. */
  readonly outstanding: number;
  readonly isOpen: boolean;
  /**
   * Publishes a message; a body of any size is split into frames. The body must not change until `done`.
   * @param done called once: without a failure when the server has taken the message; `NackedError`; `ReturnedError` for a
   *   mandatory message that no queue got; `UnsendableError`, within the call; `ChannelClosedError` or `ConnectionClosedError`,
   *   after which it is unknown whether the server took it
   * @param mandatory with `replaced`: whether the message goes on with the history of the delivery; it is returned in any case
   * @param replaced see {@link AmqpChannel.publish}; a failure leaves this delivery as it was
   */
  publish(
    exchange: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array,
    mandatory: boolean,
    done: Done,
    replaced?: number,
  ): void;
  /** The same with less memory for each message. */
  send(message: Sendable): void;
  close(done?: Done): void;
}
