import { connect, type Socket } from 'node:net';
import { bool, table } from '../../../libs/dlx-broker/src/engine/message/index.js';
import { Failure } from '../failure.js';
import { WireChannel } from './channel.js';
import { FrameReader, writeFrame, type Frame } from './frames.js';
import { readMethod, writeMethod, type Arguments, type Method } from './methods.js';

export interface WireOptions {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly vhost: string;
  /** The values of tune-ok; default: the offer of the server. */
  readonly channelMax?: number;
  readonly frameMax?: number;
  /** Cuts what is written; each piece goes in a turn of its own. */
  readonly cut?: (bytes: Buffer) => readonly Buffer[];
}

const capabilities = new Map(
  ['publisher_confirms', 'consumer_cancel_notify', 'basic.nack', 'authentication_failure_close'].map((name) => [
    name,
    bool(true),
  ]),
);

/** A plain AMQP 0-9-1 connection without heartbeats: nothing is hidden, nothing converted. */
export class WireConnection {
  readonly #channels = new Map<number, WireChannel>();
  readonly #frames = new FrameReader();
  readonly #waiting: { resolve(method: Method): void; reject(error: Error): void }[] = [];
  #lastChannel = 0;
  /** The largest payload either side may send. */
  largest = 0;
  readonly #pieces: Buffer[] = [];
  /** Why the connection ended, once it did. */
  failure: Failure | undefined;
  readonly #ends: ((failure: Failure) => void)[] = [];
  /** Settles with the reason when the connection ends. */
  readonly ended = new Promise<Failure>((resolve) => this.#ends.push(resolve));

  private constructor(
    readonly socket: Socket,
    readonly cut: WireOptions['cut'],
  ) {
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => this.#frames.take(bytes).forEach((frame) => this.#receive(frame)));
    socket.on('error', (error) => this.#end(new Failure(0, error.message, 0, 0, 'connection')));
    socket.on('close', () => this.#end(new Failure(0, 'the socket was closed', 0, 0, 'connection')));
  }

  /** @throws Failure when the broker refuses */
  static async open(options: WireOptions): Promise<WireConnection> {
    const socket = connect(options.port, options.host);
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    const connection = new WireConnection(socket, options.cut);
    socket.write(Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]));
    await connection.#next();
    connection.send(0, 'connection.start-ok', {
      properties: new Map([['capabilities', table(capabilities)]]),
      mechanism: 'PLAIN',
      response: `\0${options.user}\0${options.password}`,
      locale: 'en_US',
    });
    const { args } = await connection.#next();
    const { channelMax = args['channelMax'] ?? 0, frameMax = args['frameMax'] ?? 0 } = options;
    const limits = { channelMax, frameMax, heartbeat: 0 };
    connection.largest = Number(frameMax) - 8;
    connection.send(0, 'connection.tune-ok', limits);
    connection.send(0, 'connection.open', { vhost: options.vhost });
    await connection.#next();
    return connection;
  }

  async openChannel(number = this.#lastChannel + 1): Promise<WireChannel> {
    this.#lastChannel = Math.max(number, this.#lastChannel);
    const channel = new WireChannel(this, number);
    this.#channels.set(number, channel);
    await channel.call('channel.open', {});
    return channel;
  }

  send(channel: number, name: string, args: Arguments): void {
    this.write(writeFrame(1, channel, writeMethod(name, args)));
  }

  write(bytes: Buffer): void {
    if (this.cut === undefined) return this.#write(bytes);
    if (this.#pieces.length === 0) setImmediate(this.#writeNext);
    this.#pieces.push(...this.cut(bytes));
  }

  async close(): Promise<void> {
    if (this.failure !== undefined) return void this.socket.destroy();
    const answer = this.#next();
    this.send(0, 'connection.close', { code: 200, text: 'bye' });
    await answer.catch(() => undefined);
    this.socket.destroy();
  }

  /** Sends a frame as it is, be it right or wrong. */
  frame(type: number, channel: number, payload: Buffer): void {
    this.write(writeFrame(type, channel, payload));
  }

  /** Drops the socket without a word, as a crashed client does. */
  drop(): void {
    this.socket.destroy();
  }

  readonly #writeNext = (): void => {
    const piece = this.#pieces.shift();
    if (piece !== undefined) this.#write(piece);
    if (this.#pieces.length > 0) setImmediate(this.#writeNext);
  };

  #write(bytes: Buffer): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  #next(): Promise<Method> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #receive(frame: Frame): void {
    if (frame.type === 8) return;
    if (frame.channel !== 0) return this.#channels.get(frame.channel)?.receive(frame);
    const method = readMethod(frame.payload);
    if (method.name === 'connection.blocked' || method.name === 'connection.unblocked') return;
    if (method.name !== 'connection.close') return this.#waiting.shift()?.resolve(method);
    this.send(0, 'connection.close-ok', {});
    this.#end(Failure.of(method, 'connection'));
  }

  #end(failure: Failure): void {
    if (this.failure !== undefined) return;
    this.failure = failure;
    for (const end of this.#ends) end(failure);
    for (const waiting of this.#waiting.splice(0)) waiting.reject(failure);
    for (const channel of this.#channels.values()) channel.end(failure);
    this.socket.end();
  }
}
