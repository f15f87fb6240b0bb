import type { Socket } from 'node:net';
import { AmqpError, type ClientState, type Connection, type ConnectionOutbox } from '../../engine/broker/index.js';
import { methodIds, noBytes } from '../../engine/message/index.js';
import {
  checkFrame,
  frameOverhead,
  FrameReader,
  type FrameSink,
  frameTypes,
  type FrameWriter,
  HeaderReader,
  methods,
  protocolHeader,
  StrictMethodReader,
} from '../wire/index.js';
import { ClientChannel } from './channel.js';
import { ConnectionDetails } from './connection-details.js';
import { type Client, Handshake, type Tuning } from './handshake.js';
import { type Limits, tooManyFrames, UnfinishedMessages } from './limits.js';
import type { Arrival, ListenerContext } from './listener-context.js';
import { checkOpen, isSentToClient, readOwnMethod, textFor, toAmqpError, tooManyChannels } from './method-errors.js';
import { type Backpressure, SocketFlow } from './socket-flow.js';

/** Shared by all connections: each method is read to its end before anything else is done. */
const methodReader = new StrictMethodReader(noBytes);

const untuned: Tuning = { channels: 0, frameSize: 0, heartbeat: 0 };

/**
 * Where a connection stands: it waits for the protocol header, shakes hands, runs; it was closed by the server and
 * waits for close-ok; or it is over and only its socket has to go.
 */
type State = 'header' | 'handshake' | 'running' | 'closing' | 'over';

/** One client: its socket, its handshake, its channels. Whatever the client sends, no error leaves this class. */
export class ClientConnection implements FrameSink, Backpressure, ConnectionOutbox {
  readonly to: FrameWriter;
  readonly flow: SocketFlow;
  readonly channels = new Map<number, ClientChannel>();
  tuning = untuned;
  readonly #reader: FrameReader;
  /** Both exist only until the connection is open. */
  #header: HeaderReader | undefined = new HeaderReader();
  #handshake: Handshake | undefined;
  #client: Client | undefined;
  #engine: Connection | undefined;
  #state: State = 'header';
  /** Reading waits until outputs are sent. */
  #isHeld = false;
  /** The method that waited for outputs is read again, and must not wait twice. */
  #hasWaited = false;
  /** Reading waits until all alarms are over. */
  #isBlocked = false;
  /** The last frame has been written, or the client is gone. */
  isMute = false;
  readonly unfinished: UnfinishedMessages;

  constructor(
    readonly socket: Socket,
    readonly context: ListenerContext<ClientConnection>,
    readonly arrival: Arrival,
  ) {
    this.#reader = new FrameReader(this, context.frames);
    this.#reader.maxPayload = context.broker.profile.minFrameSize - frameOverhead;
    this.unfinished = new UnfinishedMessages(context.limits.unfinished);
    this.flow = new SocketFlow(socket, arrival.tcp, context, this);
    this.to = this.flow.to;
    socket.on('data', (chunk) => this.#received(chunk as Buffer));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#gone());
  }

  get limits(): Limits {
    return this.context.limits;
  }

  get profile(): ListenerContext['broker']['profile'] {
    return this.context.broker.profile;
  }

  get client(): Client {
    return this.#client as Client;
  }

  /** Only while it runs. */
  get engine(): Connection {
    return this.#engine as Connection;
  }

  /** The virtual host, once it is open. */
  get virtualHost(): string | undefined {
    return this.#engine?.vhost.name;
  }

  get isOpen(): boolean {
    return this.#state === 'running';
  }

  get isShakingHands(): boolean {
    return this.#state === 'header' || this.#state === 'handshake';
  }

  /**
   * The state in listings. `blocking`: an alarm is raised, and the client has not published since. `flow`: the client
   * does not read its deliveries.
   */
  get shownState(): ClientState {
    if (this.#state !== 'running') return 'closing';
    if (this.#isBlocked) return 'blocked';
    if (this.context.alarms.isRaised) return 'blocking';
    return this.flow.isFlooded ? 'flow' : 'running';
  }

  /** See {@link Backpressure}. */
  overfull(): void {
    this.#eachEngine((engine) => engine.pause());
  }

  /** See {@link Backpressure}. */
  flooded(): void {
    this.#reader.pause();
  }

  /** See {@link Backpressure}. */
  relieved(): void {
    this.#eachEngine((engine) => engine.resume());
    this.#read();
  }

  /** See {@link Backpressure}. */
  rested(): void {
    this.#read();
  }

  frame(type: number, number: number, bytes: Buffer, start: number, end: number): boolean {
    if (this.#state === 'over') return true;
    checkFrame(type, number, bytes, start, end);
    if (this.#state === 'closing') return this.#whileClosing(type, number, bytes, start);
    if (type === frameTypes.heartbeat) return true;
    if (this.#state !== 'running') return this.#shakeHands(type, number, bytes, start, end);
    if (number === 0) return this.#method(type, bytes, start, end);
    const channel = this.channels.get(number);
    if (channel !== undefined) return channel.frame(type, bytes, start, end, methodReader);
    return this.#openChannel(type, number, bytes, start, end);
  }

  /** Bytes held for a frame that is not whole. */
  get held(): number {
    return this.#reader.held;
  }

  /** Bytes received and not looked at, because reading waits. */
  get waiting(): number {
    return this.#reader.waiting;
  }

  /** Closes the connection, in a later turn because another connection may be at work. */
  partDropped(): void {
    this.context.later(() => this.#fail(tooManyFrames(this.limits.unfinishedFrames)));
  }

  forget(channel: ClientChannel): void {
    this.channels.delete(channel.number);
  }

  /**
   * Whether an answer would overtake outputs of this connection; if so, reading goes on when they are sent. A method
   * waits only once, because other clients may publish to its consumers without end.
   */
  waits(): boolean {
    const waited = this.#hasWaited;
    this.#hasWaited = false;
    if (waited || this.engine.pendingOutputs.isEmpty) return false;
    this.holdUntilSent(() => (this.#hasWaited = true));
    return true;
  }

  /** Stops reading until all present outputs of this connection are sent; then calls `write`, which may answer. */
  holdUntilSent(write: () => unknown): void {
    const { pendingOutputs } = this.engine;
    if (pendingOutputs.isEmpty) return void write();
    const resume = this.hold();
    pendingOutputs.after(() => {
      if (this.#state === 'running') write();
      resume();
    });
  }

  /** Stops reading. @returns a function that resumes reading */
  hold(): () => void {
    this.#isHeld = true;
    this.#reader.pause();
    return () => {
      this.#isHeld = false;
      this.#read();
    };
  }

  /** Calls `write` when all outputs pending for this client are sent. */
  afterOutputs(write: () => void): void {
    if (this.#engine === undefined) write();
    else this.#engine.pendingOutputs.after(write);
  }

  /** Whether an alarm is raised, so that publishers have to wait. If so, the connection stops reading. */
  isBlocked(): boolean {
    const { alarms } = this.context;
    if (!alarms.isRaised) return false;
    this.#isBlocked = true;
    this.socket.pause();
    if (this.client.can('connection.blocked')) methods.writeConnectionBlocked(this.to, 0, alarms.reason);
    return true;
  }

  /** All alarms have ended. */
  unblock(): void {
    if (!this.#isBlocked) return;
    this.#isBlocked = false;
    if (this.#state === 'running' && this.client.can('connection.blocked')) {
      methods.writeConnectionUnblocked(this.to, 0);
    }
    this.#read();
  }

  /** Something was written: too much may wait for the client by now. */
  wrote(): void {
    this.flow.check();
  }

  /** The engine closed it, for an operator or after a hard error of which the client knows; or its login failed late. */
  closed(error: unknown): void {
    this.#fail(error);
  }

  /** Ends it for a reason, as an operator or the end of the listener does. */
  force(error: AmqpError): void {
    if (this.#state === 'running') this.#fail(error);
    else if (this.#state !== 'closing') this.end(0);
  }

  /** Ends it like {@link force}, and discards all bytes that are received and not handled. */
  shed(error: AmqpError): void {
    this.#reader.isBroken = true;
    this.#reader.clear();
    this.force(error);
  }

  /** Ends the socket. @param after milliseconds to wait @param write writes the last frame */
  end(after: number, write?: () => void): void {
    this.#state = 'over';
    this.#closeEngine(() => {
      if (!this.isMute) write?.();
      this.isMute = true;
      this.flow.end(after);
    });
  }

  #received(chunk: Buffer): void {
    this.flow.heard(chunk.length);
    if (this.#state === 'over' || this.#reader.isBroken) return;
    if (this.#header !== undefined) this.#greet(this.#header.read(chunk));
    else {
      this.#reader.push(chunk);
      this.#read();
    }
    this.#reader.keep();
    this.flow.handled();
  }

  /** Handles the received bytes as one batch of commands: their outputs leave together. */
  #read(): void {
    if (this.#isHeld || this.#isBlocked || this.flow.isStopped) return void this.socket.pause();
    if (this.#reader.isBroken || this.#state === 'over') return;
    if (this.socket.isPaused()) this.socket.resume();
    if (this.#reader.hasMore) this.context.broker.batch(this.#run);
  }

  readonly #run = (): void => {
    try {
      this.#reader.run();
    } catch (error) {
      this.#fail(error);
    }
  };

  /** @param following the header, if it was one */
  #greet(following: Buffer | 'incomplete' | 'other'): void {
    if (following === 'incomplete') return;
    this.#header = undefined;
    if (following === 'other') {
      this.to.plain(protocolHeader);
      return this.end(0);
    }
    this.#state = 'handshake';
    this.#handshake = new Handshake(this);
    if (following.length > 0) this.#reader.push(following);
    this.#read();
  }

  #shakeHands(type: number, number: number, bytes: Buffer, start: number, end: number): boolean {
    const handshake = this.#handshake as Handshake;
    const step = handshake.frame(type, number, bytes, start, end, methodReader);
    this.#client = handshake.client;
    if (handshake.tuning !== undefined) {
      this.tuning = handshake.tuning;
      this.#reader.maxPayload = this.to.maxPayload = this.tuning.frameSize - frameOverhead;
    }
    if (step === 'close') this.#closeOk();
    else if (step !== 'more') this.#open(step.virtualHost, handshake.client.user);
    return true;
  }

  #open(vhost: string, user: string): void {
    this.#engine = this.context.broker.connect({ vhost, user, outbox: this, client: new ConnectionDetails(this) });
    this.#handshake = undefined;
    this.#state = 'running';
    this.context.entered(this);
    methods.writeConnectionOpenOk(this.to, 0);
  }

  #method(type: number, bytes: Buffer, start: number, end: number): boolean {
    if (readOwnMethod(type, bytes, start, end, methodReader) === methodIds.connectionUpdateSecret) {
      methods.writeConnectionUpdateSecretOk(this.to, 0);
      return true;
    }
    for (const channel of this.channels.values()) if (channel.waitsForAnswer()) return false;
    if (this.waits()) return false;
    this.#closeOk();
    return true;
  }

  #closeOk(): void {
    this.end(0, () => methods.writeConnectionCloseOk(this.to, 0));
  }

  #openChannel(type: number, number: number, bytes: Buffer, start: number, end: number): boolean {
    checkOpen(type, bytes, start, end, methodReader);
    if (this.channels.size >= this.tuning.channels) throw tooManyChannels(this.channels.size, this.tuning.channels);
    const channel = new ClientChannel(this, number);
    if (this.flow.isOverfull) channel.engine.pause();
    this.channels.set(number, channel);
    methods.writeChannelOpenOk(this.to, number);
    return true;
  }

  #whileClosing(type: number, number: number, bytes: Buffer, start: number): boolean {
    if (type !== frameTypes.method || number !== 0) return true;
    const id = bytes.readInt32BE(start);
    if (id === methodIds.connectionCloseOk) this.end(0);
    else if (id === methodIds.connectionClose) this.afterOutputs(() => methods.writeConnectionCloseOk(this.to, 0));
    return true;
  }

  /** The first error counts; what comes after it is only its consequence. */
  #fail(failure: unknown): void {
    if (this.#state === 'over' || this.#state === 'closing') return;
    const error = toAmqpError(failure);
    const shaking = this.#state !== 'running';
    if (shaking && !isSentToClient(error)) return this.end(this.limits.silence);
    const known = error instanceof AmqpError ? error : new AmqpError('INTERNAL_ERROR', '');
    if (known !== error) this.context.log(error);
    const [classId, methodId] = known.method;
    this.#closeEngine(() => {
      if (this.isMute) return;
      this.isMute = true;
      methods.writeConnectionClose(this.to, 0, known.code, textFor(known), classId, methodId);
    });
    // A failed login ends in silence, and so does a stream of bytes that are no frames.
    if ((shaking && known.code === 403) || this.#reader.isBroken) return this.end(this.limits.silence);
    this.#state = 'closing';
    this.flow.dropAfter(this.limits.closing);
    if (this.#isBlocked) this.unblock();
  }

  #gone(): void {
    this.#state = 'over';
    this.isMute = true;
    this.#closeEngine();
    this.flow.gone();
    this.#reader.clear();
    this.context.forget(this);
  }

  /**
   * Closes the connection in the core. As in RabbitMQ, the client gets the last frame when its consumers and exclusive
   * queues are gone and its messages are back.
   * @param ended called then, when all pending outputs are sent
   */
  #closeEngine(ended?: () => void): void {
    this.#handshake?.leave();
    this.channels.clear();
    if (this.#engine === undefined) ended?.();
    else this.#engine.close(ended && (() => this.afterOutputs(ended)));
  }

  #eachEngine(act: (engine: ClientChannel['engine']) => void): void {
    for (const { engine } of this.channels.values()) act(engine);
  }
}
