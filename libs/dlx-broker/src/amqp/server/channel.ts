import {
  AmqpError,
  type Channel,
  type ChannelOutbox,
  type Connection,
  type Delivery,
  type Got,
  type Returned,
  type Settled,
} from '../../engine/broker/index.js';
import { type Message, methodIds, type Properties } from '../../engine/message/index.js';
import { claimedIn } from '../../platform/history/index.js';
import { frameTypes, type FrameWriter, HeaderWriter, type MethodReader, methods } from '../wire/index.js';
import { type CommandChannel, commands } from './commands.js';
import { Content, type ContentRules, type Publishing } from './content.js';
import type { Client } from './handshake.js';
import type { Limits, UnfinishedMessages } from './limits.js';
import { methodExpected, undecoded, unknownMethod, withMethod } from './method-errors.js';
import type { SocketFlow } from './socket-flow.js';

/** A connection, as its channels know it. */
interface ChannelHost {
  readonly to: FrameWriter;
  readonly engine: Connection;
  readonly client: Client;
  readonly limits: Limits;
  readonly profile: { readonly maxMessageSize: number };
  readonly flow: SocketFlow;
  readonly unfinished: UnfinishedMessages;
  /** The last frame has been written, or the client is gone. */
  readonly isMute: boolean;
  /** Whether an answer would overtake outputs of this connection; if so, reading goes on when they are sent. */
  waits(): boolean;
  /** Stops reading. @returns a function that resumes reading */
  hold(): () => void;
  /** Stops reading until all present outputs of this connection are sent; then calls `write`, which may answer. */
  holdUntilSent(write: () => void): void;
  /** Calls `write` when all outputs pending for this client are sent. */
  afterOutputs(write: () => void): void;
  /** Whether an alarm is raised, so that publishers have to wait. If so, the connection stops reading. */
  isBlocked(): boolean;
  /** Output was written. */
  wrote(): void;
  /** The channel is closed. */
  forget(channel: { readonly number: number }): void;
}

/** Whether a frame was taken. A frame that was not is offered again later, and reading waits. */
const later = false;
const taken = true;

/** One channel of a client: its frames become commands of the engine, the engine's output becomes frames. */
export class ClientChannel implements ChannelOutbox, CommandChannel, ContentRules {
  readonly engine: Channel;
  readonly to: FrameWriter;
  readonly #content: Content;
  readonly #header = new HeaderWriter();
  /** The server closed it and waits for close-ok; everything else is ignored (rule Q9). */
  #isClosing = false;
  /** The last frame of the channel has been written. */
  #isOver = false;
  /** The client closed the channel while the server closed it: its answer comes behind the server's channel.close. */
  #owesCloseOk = false;
  /** An answer waits for the journal, or for work in turns. */
  #isAnswering = false;
  /** Sends the channel.close that waits for this answer. */
  #closeLater: (() => void) | undefined;
  /**
   * A `basic.get` is not answered yet: nothing else is done meanwhile, because a settlement of all deliveries would
   * cover its message.
   */
  #isFetching = false;
  /** Reading waits for that answer. */
  #release: (() => void) | undefined;
  /** The delivery whose place the next message takes. */
  #replaced: number | undefined;
  #lastPublish: { readonly bytes: Buffer; readonly publishing: Publishing } | undefined;

  constructor(
    readonly connection: ChannelHost,
    readonly number: number,
  ) {
    this.to = connection.to;
    this.engine = connection.engine.openChannel(this, number);
    this.#content = new Content(this);
  }

  /** See {@link ContentRules}. */
  get maxBodySize(): number {
    return this.connection.profile.maxMessageSize;
  }

  refusal({ exchange, routingKey, immediate }: Publishing): AmqpError | undefined {
    const refusal = this.engine.refusal(exchange, routingKey, { immediate });
    // A message that replaces a delivery is returned with its body if only its exchange is missing (rule K14).
    return this.#replaced !== undefined && refusal?.code === 404 ? undefined : refusal;
  }

  countUnfinished(bytes: number): void {
    this.connection.unfinished.count(bytes);
  }

  /** @returns false when the frame was not taken, and has to be offered again */
  frame(type: number, bytes: Buffer, start: number, end: number, from: MethodReader): boolean {
    // The engine closes a channel at once, and reports it when its messages have returned to their queues.
    if (this.#isClosing || this.engine.isClosed) return this.#ignore(type, bytes, start);
    if (this.#isFetching) return this.#wait();
    try {
      if (this.#content.isAwaited) return this.#awaited(type, bytes, start, end);
      if (type === frameTypes.method) return this.#method(bytes, start, end, from);
    } catch (error) {
      this.#fail(error, type, bytes, start, end);
      return taken;
    }
    throw methodExpected();
  }

  /**
   * Whether a command is not answered yet. If so, reading waits for the answer: a close of the connection comes behind it, as in RabbitMQ.
   * Otherwise the client would never get a message that was taken without an ack, or would not know of a commit.
   */
  waitsForAnswer(): boolean {
    if (!this.#isFetching && !this.#isAnswering) return false;
    return this.#wait() === later;
  }

  /** `basic.get`: the message, or nothing. */
  get({ queue, noAck }: ReturnType<typeof methods.readBasicGet>): void {
    let [isLate, isAnswered] = [false, false];
    this.engine.fetch(queue, { noAck }, (got) => {
      isAnswered = true;
      if (!isLate) return this.#got(got);
      // Its delivery tag is higher than those of the pending deliveries.
      this.connection.afterOutputs(() => {
        this.#isFetching = false;
        if (!this.#isClosing && !this.#isMute) this.#got(got);
        this.#resumeReading();
      });
    });
    isLate = true;
    this.#isFetching = !isAnswered;
  }

  replaceNext(deliveryTag: number): void {
    const refuse = (text: string): AmqpError => new AmqpError('PRECONDITION_FAILED', text);
    if (this.engine.confirms === undefined) throw refuse('channel is not in confirm mode');
    if (this.#replaced !== undefined) throw refuse(`no message has replaced delivery ${this.#replaced} yet`);
    if (!this.engine.receiver.settler.unacked.has(deliveryTag)) throw refuse(`unknown delivery tag ${deliveryTag}`);
    this.#replaced = deliveryTag;
  }

  #got(got: Got | undefined): void {
    if (got === undefined) return methods.writeBasicGetEmpty(this.to, this.number);
    const { deliveryTag, redelivered, message, body, messageCount } = got;
    const { exchange, routingKey } = message;
    methods.writeBasicGetOk(this.to, this.number, deliveryTag, redelivered, exchange, routingKey, messageCount);
    this.#contentOf(message, body);
    this.connection.wrote();
  }

  /** @throws AmqpError 530 when the channel has as many consumers as it may have */
  checkConsumers(): void {
    const { consumers } = this.connection.limits;
    if (this.engine.receiver.consumers.size < consumers) return;
    throw new AmqpError('NOT_ALLOWED', `reached maximum (${consumers}) of consumers per channel`);
  }

  /**
   * Answers a command when its changes are durable, behind all pending outputs. Until then, later commands of this channel that have an
   * answer wait, and so do publishes, because of their returns and confirms. Settlements outside of a transaction go on: they
   * make room on a full disk.
   * @param error makes the error for the client if the journal fails
   */
  answerWhenStored(write: () => void, error: (failure: Error) => AmqpError): Settled {
    this.#isAnswering = true;
    return (failure) => {
      if (failure !== undefined && !this.#isMute) this.#failLate(error(failure));
      this.connection.afterOutputs(() => {
        this.#isAnswering = false;
        if (failure === undefined && !this.#isMute) write();
        this.#resumeReading();
        this.#closeLater?.();
      });
    };
  }

  /** Reads the frames that waited for an answer. */
  #resumeReading(): void {
    const release = this.#release;
    this.#release = undefined;
    release?.();
  }

  /** Calls `write` when all pending outputs are sent; nothing is read until then. */
  afterOutputs(write: () => void): void {
    this.connection.holdUntilSent(write);
  }

  reserve(bytes: number): boolean {
    return this.connection.flow.reserve(bytes);
  }

  deliver({ consumerTag, deliveryTag, redelivered, message, body }: Delivery): void {
    const { exchange, routingKey } = message;
    methods.writeBasicDeliver(this.to, this.number, consumerTag, deliveryTag, redelivered, exchange, routingKey);
    this.#contentOf(message, body);
    this.connection.wrote();
  }

  returned({ replyCode, replyText, message }: Returned): void {
    if (this.#isMute) return;
    const { exchange, routingKey } = message;
    methods.writeBasicReturn(this.to, this.number, replyCode, replyText, exchange, routingKey);
    this.#contentOf(message, message.body);
    this.connection.wrote();
  }

  confirmed(deliveryTag: number, multiple: boolean, ok: boolean): void {
    if (this.#isMute) return;
    if (ok) methods.writeBasicAck(this.to, this.number, deliveryTag, multiple);
    else methods.writeBasicNack(this.to, this.number, deliveryTag, multiple, true); // rule K3
  }

  /** Sent only to clients with the capability (rule Q6). */
  cancelled(consumerTag: string): boolean {
    const isKnown = this.connection.client.can('consumer_cancel_notify');
    if (isKnown) methods.writeBasicCancel(this.to, this.number, consumerTag, true);
    return isKnown;
  }

  closed(error: AmqpError): void {
    this.#close(error);
  }

  #method(bytes: Buffer, start: number, end: number, from: MethodReader): boolean {
    const id = bytes.readInt32BE(start);
    from.reset(bytes, start + 4, end);
    if (id === methodIds.basicPublish && !this.#isAnswering) return this.#publish(bytes, start + 4, end, from);
    const command = commands.get(id);
    if (this.#isAnswering && (command?.answers !== false || this.engine.transaction !== undefined)) return this.#wait();
    if (command === undefined) return this.#other(id, from);
    if (command.waitsForOutputs && this.connection.waits()) return later;
    command.run(this, from);
    return taken;
  }

  #wait(): typeof later {
    this.#release ??= this.connection.hold();
    return later;
  }

  #publish(bytes: Buffer, start: number, end: number, from: MethodReader): boolean {
    if (this.connection.isBlocked()) return later;
    const last = this.#lastPublish;
    if (last !== undefined && isSame(last.bytes, bytes, start, end)) this.#content.begin(last.publishing);
    else {
      const publishing = methods.readBasicPublish(from);
      this.#lastPublish = { bytes: Buffer.from(bytes.subarray(start, end)), publishing };
      this.#content.begin(publishing);
    }
    return taken;
  }

  #awaited(type: number, bytes: Buffer, start: number, end: number): boolean {
    if (this.connection.isBlocked()) return later;
    const content = this.#content;
    if (!content.frame(type, bytes, start, end)) return taken;
    const { publishing, properties, body } = content;
    content.clear();
    if (publishing === undefined || properties === undefined) return taken;
    const { exchange, routingKey } = publishing;
    const replaced = this.#replaced;
    if (replaced === undefined) this.engine.publish(exchange, routingKey, properties, body, publishing);
    else {
      this.#replaced = undefined;
      // A message that is not mandatory takes the place of the delivery, but does not go on with its history (rule K14).
      const claimed = publishing.mandatory ? claimedIn(properties.headers) : undefined;
      this.engine.replace(replaced, exchange, routingKey, properties, body, {
        immediate: publishing.immediate,
        claimed,
      });
    }
    return taken;
  }

  #other(id: number, from: MethodReader): boolean {
    if (id === methodIds.channelOpen) {
      methods.readChannelOpen(from);
      throw secondOpen();
    }
    if (id === methodIds.channelFlowOk) methods.readChannelFlowOk(from);
    if (id !== methodIds.channelClose) throw unknownMethod(id);
    if (this.connection.waits()) return later;
    methods.readChannelClose(from);
    this.#isOver = true;
    this.#isClosing = true; // frames before close-ok are ignored
    this.engine.close(() => {
      this.connection.forget(this);
      if (!this.connection.isMute) methods.writeChannelCloseOk(this.to, this.number);
    });
    return taken;
  }

  #ignore(type: number, bytes: Buffer, start: number): boolean {
    if (type !== frameTypes.method) return taken;
    const id = bytes.readInt32BE(start);
    if (id === methodIds.channelOpen) throw withMethod(secondOpen(), id);
    if (id === methodIds.channelCloseOk) this.connection.forget(this);
    else if (id === methodIds.channelClose) {
      this.#owesCloseOk = true;
      if (this.#isOver) this.connection.afterOutputs(() => this.#writeCloseOk());
    }
    return taken;
  }

  #writeCloseOk(): void {
    if (this.#owesCloseOk && !this.connection.isMute) methods.writeChannelCloseOk(this.to, this.number);
    this.#owesCloseOk = false;
  }

  /** A soft error closes the channel, a hard one is for the connection. */
  #fail(error: unknown, type: number, bytes: Buffer, start: number, end: number): void {
    const isMethod = type === frameTypes.method && !this.#content.isAwaited;
    const id = isMethod ? bytes.readInt32BE(start) : methodIds.basicPublish;
    // A command with an answer begins only while no other answer is due: the answer that will not come is its own.
    if (commands.get(id)?.answers === true) this.#isAnswering = false;
    const { publishing, properties, refusal } = this.#content;
    this.#content.clear();
    if (publishing !== undefined && properties !== undefined && error === refusal && this.#replaced !== undefined)
      return this.#refuseReplacing(publishing, properties, error as AmqpError);
    const known = undecoded(error, id, bytes.subarray(start + 4, end));
    if (!(known instanceof AmqpError) || known.closes === 'connection') throw known;
    this.#close(known);
  }

  /** The body of a message that was to replace a delivery was not stored, because its client may not publish it. */
  #refuseReplacing({ exchange, routingKey }: Publishing, properties: Properties, refusal: AmqpError): void {
    const replaced = this.#replaced as number;
    this.#replaced = undefined;
    if (refusal.closes === 'connection') throw refusal;
    try {
      this.engine.replace(replaced, exchange, routingKey, properties, Buffer.of(), { refusal });
    } catch (error) {
      if (!(error instanceof AmqpError) || error.closes === 'connection') throw error;
      this.#close(error);
    }
  }

  /** Closes the channel, or the connection, for an error in a later turn of a command. */
  #failLate(error: AmqpError): void {
    if (error.closes === 'connection') return this.connection.engine.force(error);
    this.#close(error);
  }

  #contentOf(message: Message, body: Uint8Array): void {
    const { to, number } = this;
    to.begin(frameTypes.header, number);
    this.#header.write(to, message);
    to.end();
    to.body(number, body);
  }

  /**
   * Closes the channel with an error. `channel.close` is sent when the channel has ended, behind the answers of earlier commands, and
   * the returns and confirms of earlier publishes.
   */
  #close(error: AmqpError): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#isFetching = false;
    this.#resumeReading();
    this.#content.clear();
    const write = (): void => {
      if (this.#isMute) return;
      this.#isOver = true;
      methods.writeChannelClose(this.to, this.number, error.code, error.message, ...error.method);
      this.#writeCloseOk();
    };
    this.engine.close(() => {
      const close = (): void => this.connection.afterOutputs(write);
      if (this.#isAnswering) this.#closeLater = close;
      else close();
    });
  }

  get #isMute(): boolean {
    return this.#isOver || this.connection.isMute;
  }
}

/** Also of a channel whose close the client has not answered. */
const secondOpen = (): AmqpError => new AmqpError('CHANNEL_ERROR', "second 'channel.open' seen");

function isSame(known: Buffer, bytes: Buffer, start: number, end: number): boolean {
  if (known.length !== end - start) return false;
  for (let index = 0; index < known.length; index++) if (known[index] !== bytes[start + index]) return false;
  return true;
}
