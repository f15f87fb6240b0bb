import { after } from '../../../host/index.js';
import { methodIds } from '../../../message/index.js';
import {
  BufferPool,
  checkFrame,
  frameOverhead,
  FrameReader,
  type FrameSink,
  frameTypes,
  FrameWriter,
} from '../../../wire/index.js';
import { MethodReader, methods } from '../../../wire/index.js';
import type { AmqpChannel, AmqpConnection, ChannelEvents, ConnectionEvents, Done, ServerDescription } from './api.js';
import type { ChannelHost } from './channel-host.js';
import { ServerChannel } from './channel.js';
import { Channels } from './channels.js';
import { HeldBytes } from './content-reader.js';
import { ClientError, ConnectError, ConnectionLostError, type ConnectionEnd, UnsendableError } from './errors.js';
import { codeOf, socketFailure, textOf } from './failures.js';
import { type Agreement, ClientHandshake } from './handshake.js';
import { Heartbeat } from './heartbeat.js';
import { type ConnectionOptions, defaults } from './options.js';
import { Output } from './output.js';
import type { Surroundings, Transport, TransportEvents } from './transport.js';

const nothing = Buffer.alloc(0);

/** RabbitMQ does not split content headers, whatever frame-max says. In bytes. */
const largestHeader = 16_777_216;

/** Opens a connection. The first event is `opened` or `closed`, never within the call. */
export const openConnection = (
  options: ConnectionOptions,
  transport: Transport,
  surroundings: Surroundings,
  events: ConnectionEvents,
): AmqpConnection => new ServerConnection(options, transport, surroundings, events);

/** Where a connection stands: it shakes hands, is open, was closed by the client and waits for the answer, or is over. */
type State = 'handshake' | 'open' | 'closing' | 'over';

/** A connection to a server. Nothing that the server sends, and no callback, can throw out of here. */
export class ServerConnection implements ChannelHost, FrameSink, TransportEvents {
  readonly to: FrameWriter;
  readonly held: HeldBytes;
  readonly output: Output;
  server: ServerDescription | undefined;
  isBlocked = false;
  readonly #options: Required<Pick<ConnectionOptions, keyof typeof defaults>> & ConnectionOptions;
  readonly #transport: Transport;
  readonly #surroundings: Surroundings;
  readonly #events: ConnectionEvents;
  readonly #reader = new FrameReader(this);
  readonly #from = new MethodReader(nothing);
  readonly #handshake: ClientHandshake;
  #channels = new Channels(0);
  #heartbeat: Heartbeat | undefined;
  #state: State = 'handshake';
  /** Bytes of the server have come, and they began as a method does. */
  #isHeard = false;
  #secrets: Done[] = [];
  /** Withdraws the time limit of the handshake or of closing. */
  #cancelLimit: () => void;

  /** See {@link openConnection}. */
  constructor(options: ConnectionOptions, transport: Transport, surroundings: Surroundings, events: ConnectionEvents) {
    this.#options = { ...defaults, ...options };
    this.#transport = transport;
    this.#surroundings = surroundings;
    this.#events = events;
    this.held = new HeldBytes(this.#options.maxMessageSize);
    this.#reader.largest = this.#options.frameMax - frameOverhead;
    this.#reader.largestHeader = largestHeader;
    this.output = new Output(transport, surroundings, this.#options.highWaterMark, {
      sent: () => this.#heartbeat?.sent(),
      drained: () => this.#call(() => this.#events.drained?.()),
    });
    this.to = new FrameWriter(new BufferPool(), (bytes, done) => transport.write(bytes, done), this.output.want);
    this.output.writer = this.to;
    transport.attach(this);
    this.#handshake = new ClientHandshake(this.#options, this.to);
    const { handshakeTimeout } = this.#options;
    this.#cancelLimit = after(surroundings.clock, handshakeTimeout, () => this.#late(handshakeTimeout));
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get isCongested(): boolean {
    return this.output.isCongested;
  }

  get waiting(): number {
    return this.output.waiting;
  }

  openChannel(events: ChannelEvents, done: Done = () => undefined): AmqpChannel {
    const number = this.isOpen ? this.#channels.free() : 0;
    const channel = new ServerChannel(this, number, events);
    if (number === 0) {
      const refusal = this.isOpen ? this.#channels.tooMany() : this.#notOpen();
      channel.fail(refusal);
      done(refusal);
    } else {
      this.#channels.add(channel);
      channel.open(done);
    }
    return channel;
  }

  updateSecret(secret: string, reason: string, done: Done): void {
    if (!this.isOpen) return done(this.#notOpen());
    this.#secrets.push(done);
    methods.writeConnectionUpdateSecret(this.to, 0, Buffer.from(secret), reason);
  }

  close(): void {
    if (this.#state === 'handshake') return this.#end(this.#handshake.failure('closed', 'the client closed it'));
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.#failAll(this.#lost('client', 'the client closed it'));
    methods.writeConnectionClose(this.to, 0, 200, 'closed by the client', 0, 0);
    this.#cancelLimit = after(this.#surroundings.clock, this.#options.closeTimeout, () => this.#end());
  }

  destroy(): void {
    this.#transport.destroy();
    this.#end(this.#state === 'handshake' ? this.#handshake.failure('closed', 'the client closed it') : undefined);
  }

  /** A channel is over, and its number free. */
  forget(channel: { readonly number: number }): void {
    this.#channels.delete(channel);
  }

  /** A callback threw. */
  fault(error: unknown): void {
    try {
      this.#events.fault(error);
    } catch {
      // A fault of the listener for faults has no other listener.
    }
  }

  /** The server broke the protocol. */
  violated(detail: string, code = 503): void {
    if (this.#state === 'handshake') return this.#end(this.#handshake.failure('not AMQP', detail));
    if (this.#state === 'open') methods.writeConnectionClose(this.to, 0, code, detail, 0, 0);
    this.#over('protocol', `the server broke the protocol: ${detail}`);
  }

  received(bytes: Buffer): void {
    if (this.#state === 'over') return;
    this.#heartbeat?.heard();
    if (!this.#isHeard && bytes[0] !== frameTypes.method) {
      return this.#end(this.#handshake.failure('not AMQP', `the server does not speak AMQP 0-9-1: ${textOf(bytes)}`));
    }
    this.#isHeard = true;
    this.#reader.push(bytes);
    try {
      this.#reader.run();
    } catch (error) {
      this.#broken(error);
    }
  }

  drained(): void {
    this.output.relieve();
  }

  closed(failure?: Error): void {
    this.output.gone();
    const detail = failure?.message ?? 'the server closed the socket';
    if (this.#state === 'handshake') this.#end(socketFailure(this.#handshake, failure, detail));
    else this.#over('socket', detail, undefined, { cause: failure });
  }

  frame(type: number, number: number, bytes: Buffer, start: number, end: number): boolean {
    if (this.#state === 'over') return true;
    checkFrame(type, number, bytes, start, end);
    if (number > 0) this.#toChannel(type, number, bytes, start, end);
    else if (type === frameTypes.method) this.#own(bytes, start, end);
    else if (type !== frameTypes.heartbeat) this.violated(`a frame of type ${type} for no channel`, 505);
    return true;
  }

  #toChannel(type: number, number: number, bytes: Buffer, start: number, end: number): void {
    if (this.#state === 'closing') return;
    const channel = this.#channels.get(number);
    if (channel === undefined) this.violated(`a frame for channel ${number}, which is not open`, 504);
    else channel.frame(type, bytes, start, end, this.#from);
  }

  #own(bytes: Buffer, start: number, end: number): void {
    const id = bytes.readInt32BE(start);
    const from = this.#from;
    from.reset(bytes, start + 4, end);
    if (this.#state === 'handshake') return this.#shakeHands(id, from);
    if (id === methodIds.connectionClose) return this.#closedByServer(methods.readConnectionClose(from));
    if (id === methodIds.connectionCloseOk && this.#state === 'closing') return this.#end();
    if (this.#state === 'closing') return;
    if (id === methodIds.connectionBlocked) this.#blocked(methods.readConnectionBlocked(from).reason);
    else if (id === methodIds.connectionUnblocked) this.#unblocked();
    else if (id === methodIds.connectionUpdateSecretOk) this.#call(this.#secrets.shift());
    else this.violated(`method ${id >>> 16}.${id & 0xffff} is none for a connection`);
  }

  #shakeHands(id: number, from: MethodReader): void {
    const isOpen = this.#handshake.method(id, from);
    const { agreed } = this.#handshake;
    if (agreed === undefined || !isOpen) return;
    this.#cancelLimit();
    this.#state = 'open';
    this.#agreed(agreed);
    this.#call(() => this.#events.opened(agreed.server));
  }

  #agreed({ server, channelMax, frameMax, heartbeat }: Agreement): void {
    this.server = server;
    this.#reader.largest = frameMax - frameOverhead;
    this.#channels = new Channels(channelMax);
    if (heartbeat === 0) return;
    this.#heartbeat = new Heartbeat(this.#surroundings, heartbeat, {
      beat: () => this.to.heartbeat(),
      dead: () => this.#silent(heartbeat * 2),
    });
  }

  #closedByServer({ replyCode, replyText }: methods.ConnectionClose): void {
    methods.writeConnectionCloseOk(this.to, 0);
    this.#over('server', replyText, replyCode);
  }

  #blocked(reason: string): void {
    this.isBlocked = true;
    this.#call(() => this.#events.blocked?.(reason));
  }

  #unblocked(): void {
    this.isBlocked = false;
    this.#call(() => this.#events.unblocked?.());
  }

  #broken(error: unknown): void {
    if (error instanceof ConnectError) this.#end(error);
    else if (error instanceof ClientError) this.#end(this.#handshake.failure('refused', error.message));
    else this.violated(error instanceof Error ? error.message : String(error), codeOf(error));
  }

  #silent(seconds: number): void {
    this.#transport.destroy();
    this.#over('silence', `nothing came from the server for ${seconds} seconds`);
  }

  #late(limit: number): void {
    this.#transport.destroy();
    this.#end(this.#handshake.failure('timeout', `no answer within ${limit} ms`));
  }

  /** Ends what was open. While the client closes it, any end is the one that the client wanted. */
  #over(reason: ConnectionEnd, detail: string, code?: number, options?: ErrorOptions): void {
    this.#end(this.#state === 'closing' ? undefined : this.#lost(reason, detail, code, options));
  }

  /** Ends it, and says so once. @param failure why; undefined when the client wanted it */
  #end(failure?: ConnectError | ConnectionLostError): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#cancelLimit();
    this.#heartbeat?.stop();
    this.output.end(this.#options.closeTimeout);
    this.#failAll(failure ?? this.#lost('client', 'the client closed it'));
    this.#call(() => this.#events.closed(failure));
  }

  #failAll(failure: ClientError): void {
    const secrets = this.#secrets;
    this.#secrets = [];
    for (const done of secrets) this.#call(() => done(failure));
    for (const channel of this.#channels.takeAll()) channel.fail(failure);
  }

  #notOpen(): ClientError {
    return new UnsendableError(`the connection to ${this.#options.place} is not open`);
  }

  #lost(reason: ConnectionEnd, detail: string, code?: number, options?: ErrorOptions): ConnectionLostError {
    return new ConnectionLostError(reason, this.#options.place, detail, code, options);
  }

  #call(act: (() => void) | undefined): void {
    try {
      act?.();
    } catch (error) {
      this.fault(error);
    }
  }
}
