import { noBytes, type Properties } from '../../engine/message/index.js';
import { readTolerantly, UndecodableProperties } from '../wire/index.js';
import type { ConsumerEvents, Delivery, GotMessage, ReceivedMessage, ReturnedMessage } from './api.js';

/** A message of which the method was received. Header and body follow. */
export abstract class IncomingMessage implements ReceivedMessage {
  body: Buffer = noBytes;
  #header: Buffer = noBytes;
  #properties: Properties | undefined;

  constructor(
    readonly exchange: string,
    readonly routingKey: string,
  ) {}

  get properties(): Properties {
    return (this.#properties ??= readTolerantly(this.#header));
  }

  get isUndecodable(): boolean {
    return this.properties instanceof UndecodableProperties;
  }

  /** @param header property flags and values; the message owns the buffer */
  describe(header: Buffer): void {
    this.#header = header;
  }

  /** Called when the message is complete. */
  abstract arrive(): void;
}

/** A message of a consumer. */
export class IncomingDelivery extends IncomingMessage implements Delivery {
  readonly #consumer: ConsumerEvents;

  constructor(
    consumer: ConsumerEvents,
    readonly consumerTag: string,
    readonly deliveryTag: number,
    readonly redelivered: boolean,
    exchange: string,
    routingKey: string,
  ) {
    super(exchange, routingKey);
    this.#consumer = consumer;
  }

  arrive(): void {
    this.#consumer.delivered(this);
  }
}

/** The answer to a get. */
export class IncomingGot extends IncomingMessage implements GotMessage {
  readonly #answer: (message: GotMessage) => void;

  constructor(
    answer: (message: GotMessage) => void,
    readonly deliveryTag: number,
    readonly redelivered: boolean,
    exchange: string,
    routingKey: string,
    readonly messageCount: number,
  ) {
    super(exchange, routingKey);
    this.#answer = answer;
  }

  arrive(): void {
    this.#answer(this);
  }
}

/** A mandatory message that no queue got. */
export class IncomingReturn extends IncomingMessage implements ReturnedMessage {
  readonly #returned: ((message: ReturnedMessage) => void) | undefined;

  constructor(
    returned: ((message: ReturnedMessage) => void) | undefined,
    readonly replyCode: number,
    readonly replyText: string,
    exchange: string,
    routingKey: string,
  ) {
    super(exchange, routingKey);
    this.#returned = returned;
  }

  arrive(): void {
    this.#returned?.(this);
  }
}
