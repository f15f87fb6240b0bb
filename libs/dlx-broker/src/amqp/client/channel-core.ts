import { methodIds } from '../../engine/message/index.js';
import { frameTypes, type FrameWriter, type MethodReader, methods, WireError } from '../wire/index.js';
import type { AmqpConnection, ChannelEvents, ConsumerEvents, Done } from './api.js';
import {
  ContentReader,
  type HeldBytes,
  IncomingDelivery,
  type IncomingMessage,
  IncomingReturn,
} from './content-reader.js';
import { ChannelClosedError, type ClientError, UnsendableError } from './errors.js';

/** What a channel needs from its connection. */
export interface ChannelHost extends AmqpConnection {
  readonly to: FrameWriter;
  readonly held: HeldBytes;
  /** Calls those that wait for the end of the turn, before a method that the server answers. */
  endTurn(): void;
  /** Releases the number of a channel that has ended. */
  forget(channel: { readonly number: number }): void;
}

/** A method that waits for its answer. */
interface Call {
  /** Class and method of the answer. */
  readonly reply: number;
  /** Reads the answer. @returns what the callback gets */
  read(from: MethodReader): unknown;
  /** Called once. */
  done(failure: ClientError | undefined, value?: unknown): void;
}

/** Methods of a channel in the order in which they were sent; answers come in the same order. */
class Calls {
  #waiting: Call[] = [];
  #next = 0;

  get first(): Call | undefined {
    return this.#waiting[this.#next];
  }

  add(call: Call): void {
    this.#waiting.push(call);
  }

  /** Takes the first one out. */
  shift(): Call | undefined {
    const call = this.#waiting[this.#next];
    if (call === undefined) return undefined;
    this.#next += 1;
    if (this.#next < this.#waiting.length) return call;
    this.#waiting = [];
    this.#next = 0;
    return call;
  }

  /** Takes all of them out. */
  drain(): readonly Call[] {
    const rest = this.#waiting.slice(this.#next);
    this.#waiting = [];
    this.#next = 0;
    return rest;
  }
}

const names: ReadonlyMap<number, string> = new Map(
  Object.entries(methodIds).map(([name, id]) => {
    const [className, ...words] = name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
    return [id, `${className}.${words.join('-')}`];
  }),
);

/** The name of a method such as `basic.publish`; empty for none. @param id class and method in one number */
export const methodName = (id: number): string => names.get(id) ?? '';

/** A channel is used from the moment its `channel.open` is written. */
type State = 'open' | 'closing' | 'over';

/** The common part of all methods of a channel: received frames, calls that wait for answers, and the end of the channel. */
export class ChannelCore {
  protected readonly to: FrameWriter;
  protected readonly consumers = new Map<string, ConsumerEvents>();
  readonly #calls = new Calls();
  readonly #content: ContentReader;
  #state: State = 'open';
  #failure: ClientError | undefined;
  #closed: Done | undefined;

  constructor(
    readonly connection: ChannelHost,
    readonly number: number,
    readonly events: ChannelEvents,
  ) {
    this.to = connection.to;
    this.#content = new ContentReader(connection.held);
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  open(done: Done): void {
    this.call(methodIds.channelOpenOk, methods.readChannelOpenOk, done, () =>
      methods.writeChannelOpen(this.to, this.number),
    );
  }

  /** See {@link AmqpChannel.close}. */
  close(done: Done = () => undefined): void {
    if (this.#state !== 'open') return done(this.#failure);
    this.connection.endTurn();
    this.#state = 'closing';
    this.#closed = done;
    methods.writeChannelClose(this.to, this.number, 200, 'closed by the client', 0, 0);
  }

  /**
   * Never opens it, and refuses all methods from now on. `closed` follows after the present call, because the caller has no channel
   * yet that the event could be about.
   */
  refuse(failure: ClientError): void {
    this.#state = 'over';
    this.#failure = failure;
    queueMicrotask(() => this.attempt(() => this.events.closed(failure)));
  }

  /** Ends it: everything outstanding fails. @param failure undefined when the client closed it */
  fail(failure: ClientError | undefined): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    const error = (this.#failure = failure ?? new ChannelClosedError(200, 'the client closed it', ''));
    this.#content.clear();
    this.consumers.clear();
    this.connection.forget(this);
    for (const { done } of this.#calls.drain()) this.attempt(() => done(error));
    this.attempt(() => this.events.closed(failure));
    const closed = this.#closed;
    if (closed !== undefined) this.attempt(() => closed(failure));
  }

  /** A frame for this channel. @throws WireError, Malformed */
  frame(type: number, bytes: Buffer, start: number, end: number, from: MethodReader): void {
    if (this.#content.isAwaited) {
      const message = this.#content.frame(type, bytes, start, end);
      if (message !== undefined) this.#arrived(message);
    } else if (type === frameTypes.method) {
      from.reset(bytes, start + 4, end);
      this.#method(bytes.readInt32BE(start), from);
    } else throw new WireError('UNEXPECTED_FRAME', `channel ${this.number} got content that no method announced`);
  }

  /** Why nothing can be sent; undefined while it is open. */
  protected get refusal(): ClientError | undefined {
    return this.#state === 'open' ? undefined : (this.#failure ?? new UnsendableError('the channel is being closed'));
  }

  /**
   * Sends a method, and adds the call that waits for its answer.
   * @param write writes the frame. If it throws, nothing was sent, and the call fails with the error
   */
  protected call<T>(
    reply: number,
    read: (from: MethodReader) => T,
    done: (failure: ClientError | undefined, value?: T) => void,
    write: () => void,
  ): void {
    this.connection.endTurn();
    const refused = this.refusal ?? this.attempted(write);
    if (refused !== undefined) return done(refused);
    this.#calls.add({ reply, read, done: done as Call['done'] });
  }

  /** Writes unless the channel is closed. @returns the error if nothing was written */
  protected attempted(write: () => void): ClientError | undefined {
    try {
      write();
      return undefined;
    } catch (error) {
      return unsendable(error);
    }
  }

  /** A message follows. */
  protected begin(message: IncomingMessage): void {
    this.#content.begin(message);
  }

  /** Removes and returns the call for an answer. @throws WireError when the next answer is another one */
  protected answered(reply: number): Call {
    const call = this.due(reply);
    this.#calls.shift();
    return call;
  }

  /** The call for an answer; it is not removed. @throws WireError when the next answer is another one */
  protected due(reply: number): Call {
    const call = this.#calls.first;
    if (call?.reply === reply) return call;
    throw new WireError('UNEXPECTED_FRAME', `channel ${this.number} got ${methodName(reply)}, which answers nothing`);
  }

  /** Handles methods other than plain answers. @returns true if it handled the method */
  protected special(_id: number, _from: MethodReader): boolean {
    return false;
  }

  #method(id: number, from: MethodReader): void {
    if (id === methodIds.basicDeliver) return this.#deliver(from);
    if (id === methodIds.basicAck) {
      const { deliveryTag, multiple } = methods.readBasicAck(from);
      return this.#confirmed(Number(deliveryTag), multiple, true);
    }
    if (id === methodIds.channelCloseOk && this.#state === 'closing') return this.fail(undefined);
    if (id === methodIds.channelClose) return this.#closedByServer(methods.readChannelClose(from));
    if (id === methodIds.basicNack) {
      const { deliveryTag, multiple } = methods.readBasicNack(from);
      return this.#confirmed(Number(deliveryTag), multiple, false);
    }
    if (id === methodIds.basicReturn) return this.#return(methods.readBasicReturn(from));
    if (id === methodIds.basicCancel) return this.#cancelled(methods.readBasicCancel(from));
    // RabbitMQ never sends it: it stops reading in place of it.
    if (id === methodIds.channelFlow)
      return methods.writeChannelFlowOk(this.to, this.number, methods.readChannelFlow(from).active);
    if (this.special(id, from)) return;
    // A call whose answer cannot be read fails with the connection, so it stays until then.
    const value = this.due(id).read(from);
    const { done } = this.answered(id);
    this.attempt(() => done(undefined, value));
  }

  #deliver(from: MethodReader): void {
    const { consumerTag, deliveryTag, redelivered, exchange, routingKey } = methods.readBasicDeliver(from);
    const consumer = this.consumers.get(consumerTag);
    if (consumer === undefined) {
      throw new WireError('UNEXPECTED_FRAME', `a delivery for consumer '${consumerTag}', which is unknown`);
    }
    this.begin(new IncomingDelivery(consumer, consumerTag, Number(deliveryTag), redelivered, exchange, routingKey));
  }

  #return({ replyCode, replyText, exchange, routingKey }: ReturnType<typeof methods.readBasicReturn>): void {
    const { returned } = this.events;
    const to = returned && ((message: Parameters<typeof returned>[0]) => returned.call(this.events, message));
    this.begin(new IncomingReturn(to, replyCode, replyText, exchange, routingKey));
  }

  #arrived(message: IncomingMessage): void {
    // Confirms count until the channel has ended, so the returns that belong to them count as well.
    if (this.#state === 'over' || (this.#state === 'closing' && !(message instanceof IncomingReturn))) return;
    try {
      message.arrive();
    } catch (error) {
      this.connection.fault(error);
    }
  }

  #confirmed(deliveryTag: number, multiple: boolean, ok: boolean): void {
    try {
      this.events.confirmed?.(deliveryTag, multiple, ok);
    } catch (error) {
      if (error instanceof WireError) throw error;
      this.connection.fault(error);
    }
  }

  #cancelled({ consumerTag, noWait }: ReturnType<typeof methods.readBasicCancel>): void {
    if (!noWait) methods.writeBasicCancelOk(this.to, this.number, consumerTag);
    const consumer = this.consumers.get(consumerTag);
    this.consumers.delete(consumerTag);
    if (this.#state === 'open') this.attempt(() => consumer?.cancelled());
  }

  #closedByServer({ replyCode, replyText, classId, methodId }: ReturnType<typeof methods.readChannelClose>): void {
    methods.writeChannelCloseOk(this.to, this.number);
    // Both sides closed the channel at the same time: the server still answers the close of the client.
    if (this.#state === 'closing') return;
    this.fail(new ChannelClosedError(replyCode, replyText, methodName((classId << 16) | methodId)));
  }

  protected attempt(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.connection.fault(error);
    }
  }
}

/** The error of what could not be written. @throws any other error */
export function unsendable(error: unknown): UnsendableError {
  if (error instanceof UnsendableError) return error;
  throw error;
}
