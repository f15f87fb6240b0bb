import { Malformed, methodIds } from '../../engine/message/index.js';
import { after, shownText } from '../../platform/index.js';
import { BufferPool, type FrameOutput, FrameWriter, type MethodReader, methods, WireError } from '../wire/index.js';
import type { AmqpChannel, AmqpConnection, ChannelEvents, ConnectionEvents, Done, ServerDescription } from './api.js';
import type { ChannelHost } from './channel-core.js';
import { Channels, ServerChannel } from './channel.js';
import { HeldBytes } from './content-reader.js';
import {
  ClientError,
  ConnectionClosedError,
  type ConnectionEnd,
  ConnectionFailedError,
  UnsendableError,
} from './errors.js';
import { type Agreement, ClientHandshake, type ConnectionOptions, defaults } from './handshake.js';
import { Incoming, type IncomingHost } from './incoming.js';
import { DialError, Heartbeat, Output, type Runtime, type Transport, type TransportEvents } from './transport.js';

/** The reply code for bytes of a server that cannot be read. */
const codeOf = (error: unknown): number =>
  error instanceof WireError ? error.code : error instanceof Malformed ? 501 : 541;

/** The error for a transport that ended during the handshake. */
function socketFailure(handshake: ClientHandshake, failure: Error | undefined, detail: string): ConnectionFailedError {
  if (!(failure instanceof DialError)) return handshake.ended(detail);
  return handshake.failure(failure.phase === 'tls' ? 'tls' : 'unreachable', detail, undefined, { cause: failure });
}

/** The first bytes of something that is not AMQP, for an error text. */
function textOf(bytes: Buffer): string {
  const first = bytes.subarray(0, 24).toString('latin1');
  if (first.startsWith('AMQP')) return `it answers with version ${[...bytes.subarray(4, 8)].join('-')}`;
  // An alert of TLS, or a record of its handshake.
  if (bytes[0] === 0x15 || bytes[0] === 0x16) return 'it answers as a port with TLS does: use amqps';
  const hint = first.startsWith('HTTP/') ? ': name its port for AMQP, not that for HTTP' : '';
  return `it answers ${JSON.stringify(first.replaceAll(/[^\x20-\x7e]/g, '.'))}${hint}`;
}

/** Calls the listeners of a connection. Their exceptions go to the listener `fault`. */
class Reports {
  constructor(readonly events: ConnectionEvents) {}

  call(act: ((events: ConnectionEvents) => void) | undefined): void {
    try {
      act?.(this.events);
    } catch (error) {
      this.fault(error);
    }
  }

  /** A callback threw. */
  fault(error: unknown): void {
    try {
      this.events.fault(error);
    } catch {
      // There is no listener for exceptions of `fault`.
    }
  }
}

/** Opens a connection. The first event is `opened` or `closed`, never within the call. */
export const openConnection = (
  options: ConnectionOptions,
  transport: Transport,
  runtime: Runtime,
  events: ConnectionEvents,
): AmqpConnection => new ServerConnection(options, transport, runtime, events);

/** The state of a connection. `closing`: the client has sent `connection.close`, and waits for the answer. */
type State = 'handshake' | 'open' | 'closing' | 'over';

/** A connection to a server. It handles every error of received bytes and of callbacks, and throws none. */
class ServerConnection implements ChannelHost, IncomingHost, TransportEvents {
  readonly to: FrameWriter;
  readonly held: HeldBytes;
  readonly output: Output;
  server: ServerDescription | undefined;
  isBlocked = false;
  readonly #options: Required<Pick<ConnectionOptions, keyof typeof defaults>> & ConnectionOptions;
  readonly #transport: Transport;
  readonly #runtime: Runtime;
  readonly #reports: Reports;
  readonly #incoming: Incoming;
  readonly #handshake: ClientHandshake;
  #channels = new Channels(0);
  #heartbeat: Heartbeat | undefined;
  #state: State = 'handshake';
  /** Withdraws the time limit of the handshake or of closing. */
  #cancelLimit: () => void;

  /** See {@link openConnection}. */
  constructor(options: ConnectionOptions, transport: Transport, runtime: Runtime, events: ConnectionEvents) {
    this.#options = { ...defaults, ...options };
    this.#transport = transport;
    this.#runtime = runtime;
    this.#reports = new Reports(events);
    this.#incoming = new Incoming(Math.max(this.#options.frameMax, defaults.frameMax), this);
    this.held = new HeldBytes(this.#options.maxMessageSize);
    this.output = new Output(transport, runtime, this.#options.highWaterMark, {
      sent: () => this.#heartbeat?.sent(),
      drained: () => this.#reports.call((every) => every.drained?.()),
    });
    const write: FrameOutput['write'] = (bytes, done) => transport.write(bytes, done);
    this.to = new FrameWriter(new BufferPool(), { write, requestFlush: this.output.want });
    this.output.writer = this.to;
    transport.attach(this);
    this.#handshake = new ClientHandshake(this.#options, this.to);
    const { handshakeTimeout } = this.#options;
    this.#cancelLimit = after(runtime.clock, handshakeTimeout, () => this.#late(handshakeTimeout));
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get isCongested(): boolean {
    return this.output.isCongested;
  }

  atEndOfTurn(act: () => void): void {
    this.output.atEndOfTurn(act);
  }

  endTurn(): void {
    this.output.endTurn();
  }

  openChannel(events: ChannelEvents, done: Done = () => undefined): AmqpChannel {
    const number = this.isOpen ? this.#channels.free() : 0;
    const channel = new ServerChannel(this, number, events);
    if (number === 0) {
      const refusal = this.isOpen ? this.#channels.tooMany() : this.#notOpen();
      channel.refuse(refusal);
      done(refusal);
    } else {
      this.#channels.add(channel);
      channel.open(done);
    }
    return channel;
  }

  close(): void {
    if (this.#state === 'handshake') return this.#end(this.#handshake.failure('closed', 'the client closed it'));
    if (this.#state !== 'open') return;
    this.endTurn(); // while channels are open
    this.#state = 'closing';
    this.#failAll(this.#lost('client', 'the client closed it'));
    methods.writeConnectionClose(this.to, 0, 200, 'closed by the client', 0, 0);
    this.#cancelLimit = after(this.#runtime.clock, this.#options.closeTimeout, () => this.destroy());
  }

  destroy(why?: string): void {
    this.#transport.destroy();
    if (why !== undefined && this.isOpen) return this.#over('silence', why);
    this.#end(this.#state === 'handshake' ? this.#handshake.failure('closed', 'the client closed it') : undefined);
  }

  /** A channel is over, and its number free. */
  forget(channel: { readonly number: number }): void {
    this.#channels.delete(channel);
  }

  /** A callback threw. */
  fault(error: unknown): void {
    this.#reports.fault(error);
  }

  /** The server broke the protocol. */
  violated(detail: string, code: number): void {
    if (this.#state === 'handshake') return this.#end(this.#handshake.failure('not AMQP', detail));
    if (this.#state === 'open') {
      this.endTurn();
      methods.writeConnectionClose(this.to, 0, code, detail, 0, 0);
    }
    this.#over('protocol', `the server broke the protocol: ${detail}`);
  }

  received(bytes: Buffer): void {
    this.#heartbeat?.heard();
    this.#incoming.received(bytes);
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

  /** See {@link IncomingHost}. After `close()` of the connection, frames of channels are ignored. */
  channel(number: number): Pick<ServerChannel, 'frame'> | undefined {
    return this.#state === 'closing' ? ignoring : this.#channels.get(number);
  }

  method(id: number, from: MethodReader): void {
    if (this.#state === 'handshake') return this.#shakeHands(id, from);
    if (id === methodIds.connectionClose) return this.#closedByServer(methods.readConnectionClose(from));
    if (id === methodIds.connectionCloseOk && this.#state === 'closing') return this.#end();
    if (this.#state === 'closing') return;
    if (id === methodIds.connectionBlocked) this.#blocked(methods.readConnectionBlocked(from).reason);
    else if (id === methodIds.connectionUnblocked) this.#unblocked();
    else this.violated(`method ${id >>> 16}.${id & 0xffff} is none for a connection`, 503);
  }

  foreign(bytes: Buffer): void {
    this.#end(this.#handshake.failure('not AMQP', `the server does not speak AMQP 0-9-1: ${textOf(bytes)}`));
  }

  failed(error: unknown): void {
    if (error instanceof ConnectionFailedError) this.#end(error);
    else if (error instanceof ClientError) this.#end(this.#handshake.failure('refused', error.message));
    else this.violated(error instanceof Error ? error.message : String(error), codeOf(error));
  }

  #shakeHands(id: number, from: MethodReader): void {
    const isOpen = this.#handshake.method(id, from);
    const { agreed } = this.#handshake;
    if (agreed === undefined || !isOpen) return;
    this.#cancelLimit();
    this.#state = 'open';
    this.#useTuning(agreed);
    this.#reports.call((events) => events.opened(agreed.server));
  }

  #useTuning({ server, channelMax, frameMax, heartbeat }: Agreement): void {
    this.server = server;
    this.#incoming.limit(frameMax);
    this.#channels = new Channels(channelMax);
    if (heartbeat === 0) return;
    this.#heartbeat = new Heartbeat(this.#runtime, heartbeat, {
      beat: () => this.to.heartbeat(),
      dead: () => this.#silent(heartbeat * 2),
    });
  }

  #closedByServer({ replyCode, replyText }: ReturnType<typeof methods.readConnectionClose>): void {
    this.endTurn();
    methods.writeConnectionCloseOk(this.to, 0);
    this.#over('server', replyText, replyCode);
  }

  #blocked(reason: string): void {
    this.isBlocked = true;
    this.#reports.call((events) => events.blocked?.(shownText(reason)));
  }

  #unblocked(): void {
    this.isBlocked = false;
    this.#reports.call((events) => events.unblocked?.());
  }

  #silent(seconds: number): void {
    this.#transport.destroy();
    this.#over('silence', `nothing came from the server for ${seconds} seconds`);
  }

  #late(limit: number): void {
    this.#transport.destroy();
    this.#end(this.#handshake.failure('timeout', `no answer within ${limit} ms`));
  }

  /** Ends the connection with a failure. During `close()` of the client there is no failure. */
  #over(reason: ConnectionEnd, detail: string, code?: number, options?: ErrorOptions): void {
    this.#end(this.#state === 'closing' ? undefined : this.#lost(reason, detail, code, options));
  }

  /** Ends the connection, and calls `closed` once. @param failure undefined after `close()` of the client */
  #end(failure?: ConnectionFailedError | ConnectionClosedError): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#incoming.isOver = true;
    this.#cancelLimit();
    this.#heartbeat?.stop();
    this.output.end(this.#options.closeTimeout);
    this.#failAll(failure ?? this.#lost('client', 'the client closed it'));
    this.#reports.call((events) => events.closed(failure));
  }

  #failAll(failure: ClientError): void {
    for (const channel of this.#channels.takeAll()) channel.fail(failure);
  }

  #notOpen(): ClientError {
    return new UnsendableError(`the connection to ${this.#options.place} is not open`);
  }

  #lost(reason: ConnectionEnd, detail: string, code?: number, options?: ErrorOptions): ConnectionClosedError {
    return new ConnectionClosedError(reason, this.#options.place, detail, code, options);
  }
}

/** A channel that ignores its frames. */
const ignoring = { frame: (): void => undefined };
