import { basicClass, keptCopy, noBytes, type Properties } from '../../engine/message/index.js';
import {
  bodySizeIn,
  frameTypes,
  headerPrefix,
  isMostOfBuffer,
  readTolerantly,
  UndecodableProperties,
  UnfinishedBody,
  WireError,
} from '../wire/index.js';
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

/** Bytes of messages that are not complete, over all channels of a connection. */
export class HeldBytes {
  #bytes = 0;

  /** @param mostOfOne the largest size of one message. @param mostOfAll the largest size of all unfinished messages */
  constructor(
    readonly mostOfOne: number,
    readonly mostOfAll = mostOfOne * 2,
  ) {}

  /** Adds to the count; a negative number subtracts. @throws WireError above the limit */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.mostOfAll) {
      throw new WireError('FRAME_ERROR', `unfinished messages of more than ${this.mostOfAll} bytes`);
    }
  }
}

/** Assembles the messages of a channel from frames. Memory is allocated for received bytes, never for the announced size. */
export class ContentReader {
  #message: IncomingMessage | undefined;
  #hasHeader = false;
  #missing = 0;
  #unfinished: UnfinishedBody | undefined;
  #counted = 0;

  constructor(readonly held: HeldBytes) {}

  /** True while a message is incomplete: only its frames may follow. */
  get isAwaited(): boolean {
    return this.#message !== undefined;
  }

  begin(message: IncomingMessage): void {
    this.#message = message;
    this.#hasHeader = false;
  }

  /** @returns the message if this frame completes it @throws WireError 505 or 501 */
  frame(type: number, bytes: Buffer, start: number, end: number): IncomingMessage | undefined {
    const message = this.#message as IncomingMessage;
    if (this.#hasHeader) this.#body(message, type, bytes, start, end);
    else this.#header(message, type, bytes, start, end);
    if (this.#missing > 0) return undefined;
    this.#message = undefined;
    return message;
  }

  /** Drops an incomplete message. */
  clear(): void {
    this.#message = undefined;
    this.#drop();
  }

  #header(message: IncomingMessage, type: number, bytes: Buffer, start: number, end: number): void {
    if (type !== frameTypes.header)
      throw new WireError('UNEXPECTED_FRAME', `a content header was due, not type ${type}`);
    const classId = bytes.readUInt16BE(start);
    if (classId !== basicClass) throw new WireError('UNEXPECTED_FRAME', `content header of class ${classId}`);
    const size = bodySizeIn(bytes, start);
    const { mostOfOne } = this.held;
    if (size > mostOfOne) {
      throw new WireError('FRAME_ERROR', `a message of ${size} bytes is larger than maxMessageSize, ${mostOfOne}`);
    }
    message.describe(keptCopy(bytes, start + headerPrefix, end));
    this.#hasHeader = true;
    this.#missing = size;
  }

  #body(message: IncomingMessage, type: number, bytes: Buffer, start: number, end: number): void {
    if (type !== frameTypes.body) throw new WireError('UNEXPECTED_FRAME', `a content body was due, not type ${type}`);
    const length = end - start;
    const missing = this.#missing - length;
    if (missing < 0) throw new WireError('FRAME_ERROR', 'a content body is longer than announced');
    if (missing === 0 && this.#unfinished === undefined) message.body = kept(bytes, start, end);
    else this.#add(message, missing, bytes, start, end);
    this.#missing = missing;
  }

  #add(message: IncomingMessage, missing: number, bytes: Buffer, start: number, end: number): void {
    const unfinished = (this.#unfinished ??= new UnfinishedBody(this.#missing));
    this.#counted += end - start;
    this.held.add(end - start);
    unfinished.add(bytes, start, end);
    if (missing > 0) return;
    message.body = unfinished.whole();
    this.#drop();
  }

  #drop(): void {
    this.#unfinished = undefined;
    this.held.add(-this.#counted);
    this.#counted = 0;
  }
}

/** A slice if it is most of the buffer; otherwise a copy, because a small slice would keep the whole buffer in memory. */
function kept(bytes: Buffer, start: number, end: number): Buffer {
  return isMostOfBuffer(bytes, end - start) ? bytes.subarray(start, end) : keptCopy(bytes, start, end);
}
