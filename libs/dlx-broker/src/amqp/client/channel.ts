import {
  basicClass,
  ByteWriter,
  emptyTable,
  type FieldTable,
  methodIds,
  type Properties,
} from '../../engine/message/index.js';
import {
  frameTypes,
  type FrameWriter,
  headerPrefix,
  type MethodReader,
  methods,
  UndecodableProperties,
  writeHeaders,
  writeProperties,
} from '../wire/index.js';
import type {
  AmqpChannel,
  Answer,
  ConsumeOptions,
  ConsumerEvents,
  Done,
  ExchangeOptions,
  GotMessage,
  QueueDeclared,
  QueueOptions,
} from './api.js';
import { ChannelCore, unsendable } from './channel-core.js';
import { checkArguments, checkName, checkProperties } from './checks.js';
import { IncomingGot } from './content-reader.js';
import { type ClientError, UnsendableError } from './errors.js';

/** The methods of a channel, see {@link AmqpChannel}. */
export class ServerChannel extends ChannelCore implements AmqpChannel {
  /** The number of generated consumer tags. */
  #named = 0;

  declareQueue(queue: string, options: QueueOptions, answer: Answer<QueueDeclared>): void {
    this.#declare(queue, false, options, answer);
  }

  checkQueue(queue: string, answer: Answer<QueueDeclared>): void {
    this.#declare(queue, true, {}, answer);
  }

  bindQueue(queue: string, exchange: string, routingKey: string, args: FieldTable = emptyTable, done: Done): void {
    this.call(methodIds.queueBindOk, methods.readQueueBindOk, done, () => {
      checkBinding(queue, exchange, routingKey, args);
      methods.writeQueueBind(this.to, this.number, queue, exchange, routingKey, false, args);
    });
  }

  deleteQueue(
    queue: string,
    { ifUnused = false, ifEmpty = false }: { readonly ifUnused?: boolean; readonly ifEmpty?: boolean },
    answer: Answer<number>,
  ): void {
    this.call(methodIds.queueDeleteOk, readDeleted, plain(answer), () => {
      checkName('queue name', queue);
      methods.writeQueueDelete(this.to, this.number, queue, ifUnused, ifEmpty, false);
    });
  }

  declareExchange(exchange: string, type: string, options: ExchangeOptions, done: Done): void {
    const { durable = false, autoDelete = false, internal = false, arguments: args = emptyTable } = options;
    this.call(methodIds.exchangeDeclareOk, methods.readExchangeDeclareOk, done, () => {
      checkName('exchange name', exchange);
      checkName('exchange type', type);
      checkArguments(args);
      const flags = [false, durable, autoDelete, internal, false] as const;
      methods.writeExchangeDeclare(this.to, this.number, exchange, type, ...flags, args);
    });
  }

  checkExchange(exchange: string, done: Done): void {
    this.call(methodIds.exchangeDeclareOk, methods.readExchangeDeclareOk, done, () => {
      checkName('exchange name', exchange);
      const flags = [true, false, false, false, false] as const;
      // A passive declare does not compare types.
      methods.writeExchangeDeclare(this.to, this.number, exchange, 'direct', ...flags, emptyTable);
    });
  }

  bindExchange(target: string, source: string, key: string, args: FieldTable = emptyTable, done: Done): void {
    this.call(methodIds.exchangeBindOk, methods.readExchangeBindOk, done, () => {
      checkBinding(target, source, key, args);
      methods.writeExchangeBind(this.to, this.number, target, source, key, false, args);
    });
  }

  deleteExchange(exchange: string, { ifUnused = false }: { readonly ifUnused?: boolean }, done: Done): void {
    this.call(methodIds.exchangeDeleteOk, methods.readExchangeDeleteOk, done, () => {
      checkName('exchange name', exchange);
      methods.writeExchangeDelete(this.to, this.number, exchange, ifUnused, false);
    });
  }

  qos(prefetchCount: number, done: Done): void {
    this.call(methodIds.basicQosOk, methods.readBasicQosOk, done, () =>
      methods.writeBasicQos(this.to, this.number, 0, prefetchCount, false),
    );
  }

  consume(queue: string, options: ConsumeOptions, events: ConsumerEvents, answer: Answer<string>): string {
    const { noAck = false, exclusive = false, arguments: args = emptyTable } = options;
    const { consumerTag: tag = `c${++this.#named}` } = options;
    this.call(methodIds.basicConsumeOk, methods.readBasicConsumeOk, answering(answer, tag), () => {
      checkName('queue name', queue);
      checkName('consumer tag', tag);
      checkArguments(args);
      if (this.consumers.has(tag)) throw new UnsendableError(`the channel has a consumer '${tag}' already`);
      methods.writeBasicConsume(this.to, this.number, queue, tag, false, noAck, exclusive, false, args);
      this.consumers.set(tag, events);
    });
    return tag;
  }

  cancel(consumerTag: string, done: Done): void {
    const cancelled: Done = (failure) => {
      this.consumers.delete(consumerTag);
      done(failure);
    };
    this.call(methodIds.basicCancelOk, methods.readBasicCancelOk, cancelled, () => {
      checkName('consumer tag', consumerTag);
      methods.writeBasicCancel(this.to, this.number, consumerTag, false);
    });
  }

  get(queue: string, { noAck = false }: { readonly noAck?: boolean }, answer: Answer<GotMessage | undefined>): void {
    this.call<GotMessage | undefined>(methodIds.basicGetOk, readLater, plain(answer), () => {
      checkName('queue name', queue);
      methods.writeBasicGet(this.to, this.number, queue, noAck);
    });
  }

  ack(deliveryTag: number, multiple = false): void {
    if (this.isOpen) methods.writeBasicAck(this.to, this.number, deliveryTag, multiple);
  }

  nack(
    deliveryTag: number,
    { multiple = false, requeue = false }: { readonly multiple?: boolean; readonly requeue?: boolean } = {},
  ): void {
    if (this.isOpen) methods.writeBasicNack(this.to, this.number, deliveryTag, multiple, requeue);
  }

  reject(deliveryTag: number, requeue: boolean): void {
    if (this.isOpen) methods.writeBasicReject(this.to, this.number, deliveryTag, requeue);
  }

  confirmSelect(done: Done): void {
    this.call(methodIds.confirmSelectOk, methods.readConfirmSelectOk, done, () =>
      methods.writeConfirmSelect(this.to, this.number, false),
    );
  }

  publish(
    exchange: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array,
    mandatory = false,
    replaced?: number,
  ): ClientError | undefined {
    const { refusal } = this;
    if (refusal !== undefined) return refusal;
    try {
      writePublish(this.to, this.number, exchange, routingKey, mandatory, replaced, properties, body);
      return undefined;
    } catch (error) {
      return unsendable(error);
    }
  }

  protected override special(id: number, from: MethodReader): boolean {
    if (id === methodIds.basicGetEmpty) {
      methods.readBasicGetEmpty(from);
      const { done } = this.answered(methodIds.basicGetOk);
      this.attempt(() => done(undefined, undefined));
    } else if (id === methodIds.basicGetOk) this.#got(from);
    else return false;
    return true;
  }

  #got(from: MethodReader): void {
    const { deliveryTag, redelivered, exchange, routingKey, messageCount } = methods.readBasicGetOk(from);
    // The call stays until the message is complete, because it fails if the channel ends before.
    this.due(methodIds.basicGetOk);
    const answer = (message: GotMessage): void => this.answered(methodIds.basicGetOk).done(undefined, message);
    this.begin(new IncomingGot(answer, Number(deliveryTag), redelivered, exchange, routingKey, messageCount));
  }

  #declare(queue: string, passive: boolean, options: QueueOptions, answer: Answer<QueueDeclared>): void {
    const { durable = false, exclusive = false, autoDelete = false, arguments: args = emptyTable } = options;
    this.call(methodIds.queueDeclareOk, methods.readQueueDeclareOk, plain(answer), () => {
      checkName('queue name', queue);
      checkArguments(args);
      const flags = [passive, durable, exclusive, autoDelete, false] as const;
      methods.writeQueueDeclare(this.to, this.number, queue, ...flags, args);
    });
  }
}

const readDeleted = (from: MethodReader): number => methods.readQueueDeleteOk(from).messageCount;

/** `#got` reads the message of basic.get-ok. */
const readLater = (): undefined => undefined;

type Plain<T> = (failure: ClientError | undefined, value?: T) => void;

/** The callback with a looser type. `call` always passes a value if there is no failure. */
const plain = <T>(answer: Answer<T>): Plain<T> => answer as Plain<T>;

/** Calls back with a value that is known beforehand. */
const answering =
  <T>(answer: Answer<T>, value: T): Done =>
  (failure) =>
    failure === undefined ? answer(undefined, value) : answer(failure, undefined);

function checkBinding(target: string, source: string, routingKey: string, args: FieldTable): void {
  checkName('name', target);
  checkName('exchange name', source);
  checkName('routing key', routingKey);
  checkArguments(args);
}

/**
 * Writes the frames of a publish: method, header, body. What came from the wire and was not changed goes out as it came.
 * @param replaced the delivery that the message replaces (rule K14)
 * @throws UnsendableError before anything is written
 */
function writePublish(
  to: FrameWriter,
  channel: number,
  exchange: string,
  routingKey: string,
  mandatory: boolean,
  replaced: number | undefined,
  properties: Properties,
  body: Uint8Array,
): void {
  checkName('exchange name', exchange);
  checkName('routing key', routingKey);
  const header = encoded(properties, to.maxPayload - headerPrefix);
  if (replaced !== undefined) methods.writeBasicReplace(to, channel, replaced);
  methods.writeBasicPublish(to, channel, exchange, routingKey, mandatory, false);
  to.begin(frameTypes.header, channel);
  to.long(basicClass << 16);
  to.longlong(body.length);
  if (header === undefined) writeNow(to, properties);
  else to.raw(header, 0, header.length);
  to.end();
  to.body(channel, body);
}

/** @returns the encoded properties if they exist already or had to be measured; undefined if they certainly fit */
function encoded(properties: Properties, largest: number): Uint8Array | undefined {
  const sent = UndecodableProperties.sentBytesOf(properties) ?? measured(properties, largest);
  if (sent === undefined || sent.length <= largest) return sent;
  throw new UnsendableError(
    `properties of ${sent.length} bytes do not fit into a frame of the server, which takes ${largest}: a content header cannot be split`,
  );
}

function measured(properties: Properties, largest: number): Uint8Array | undefined {
  if (checkProperties(properties) <= largest) return undefined;
  const writer = new ByteWriter(Buffer.allocUnsafe(largest));
  writeNow(writer, properties);
  return writer.written;
}

function writeNow(to: ByteWriter, properties: Properties): void {
  const { headers } = properties;
  writeProperties(to, properties, properties.expiration, headers && (() => writeHeaders(to, headers)));
}

/** The channels of a connection by their numbers. */
export class Channels {
  readonly #open = new Map<number, ServerChannel>();
  /** Numbers of closed channels, for reuse. */
  readonly #free: number[] = [];
  #last = 0;

  /** @param most channels at a time */
  constructor(readonly most: number) {}

  get(number: number): ServerChannel | undefined {
    return this.#open.get(number);
  }

  /** @returns a number for a new channel, 0 when all are in use */
  free(): number {
    const used = this.#free.pop();
    if (used !== undefined) return used;
    return this.#last < this.most ? ++this.#last : 0;
  }

  add(channel: ServerChannel): void {
    this.#open.set(channel.number, channel);
  }

  delete(channel: { readonly number: number }): void {
    if (this.#open.get(channel.number) !== channel) return;
    this.#open.delete(channel.number);
    this.#free.push(channel.number);
  }

  takeAll(): readonly ServerChannel[] {
    const all = [...this.#open.values()];
    this.#open.clear();
    return all;
  }

  tooMany(): ClientError {
    return new UnsendableError(`all ${this.most} channels that the server allows are open`);
  }
}
