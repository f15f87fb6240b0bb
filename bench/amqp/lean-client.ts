import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type Arguments, ids, long, longlong, longstr, method, octet, short, shortstr, table } from './frames.js';
import { ReadBuffers, Scanner } from './scanner.js';
import type { Target } from './target.js';

const header = Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]);
const frameSize = 131_072;
const ackAll = method(1, ids.basicAck, longlong(0), octet(1));
const rejectOne = method(1, ids.basicReject, longlong(0), octet(0));
/** The place of the lower half of the delivery tag in both. */
const tagAt = 15;

/** Options for programs with many connections. */
export interface LeanOptions {
  /** Shared by connections of one program. */
  readonly buffers?: ReadBuffers;
  /** A loopback address to connect from: each has some 28,000 ports. */
  readonly localAddress?: string;
  /** Gets the body of each delivery, from `at` on. */
  readonly onBody?: (bytes: Buffer, at: number) => void;
}

/**
 * A connection with one channel that takes little processor time, so that the server is measured. Its frames are made in advance, it
 * scans the bytes of a read once, and it makes no object for a message.
 */
export class LeanClient {
  /** Tags of messages that arrived completely; called once for each read. */
  onDelivered: (from: number, to: number) => void = () => undefined;
  /** More publishes are confirmed. */
  onConfirmed: () => void = () => undefined;
  /** Publishes confirmed without a gap. */
  confirmed = 0;
  readonly #socket: Socket;
  readonly #early = new Set<number>();
  #expected: { readonly id: number; readonly resolve: (payload: Buffer) => void }[] = [];
  #isClosing = false;

  private constructor({ host, port, tls }: Target, { buffers = new ReadBuffers(), localAddress, onBody }: LeanOptions) {
    const scanner = new Scanner(
      {
        delivered: (from, to) => this.onDelivered(from, to),
        confirmed: (tag, multiple) => this.#confirm(tag, multiple),
        method: (id, payload) => this.#replied(id, payload),
        ...(onBody && { body: onBody }),
      },
      buffers,
    );
    const callback = (length: number, bytes: Uint8Array): boolean => {
      scanner.read(bytes as Buffer, length);
      return true;
    };
    const options = { host, port, noDelay: true, onread: { buffer: buffers.read, callback } };
    if (localAddress !== undefined) Object.assign(options, { localAddress });
    // `onread` of TLS is not in the types of Node 20.
    this.#socket = tls === true ? connectTls({ ...options, rejectUnauthorized: false }) : connect(options);
    this.#socket.on('error', (error) => this.#lost(error));
    this.#socket.on('close', () => this.#lost(new Error('the server closed the connection')));
  }

  /** Connects, logs in, and opens the channel. */
  static async connect(target: Target, options: LeanOptions = {}): Promise<LeanClient> {
    const client = new LeanClient(target, options);
    const plain = longstr(`\0${target.user}\0${target.password}`);
    await client.call(header, ids.connectionStart);
    const start = method(0, ids.connectionStartOk, table({}), shortstr('PLAIN'), plain, shortstr('en_US'));
    await client.call(start, ids.connectionTune);
    client.write(method(0, ids.connectionTuneOk, short(2047), long(frameSize), short(0)));
    await client.call(method(0, ids.connectionOpen, shortstr(target.vhost), octet(0), octet(0)), ids.connectionOpenOk);
    await client.call(method(1, ids.channelOpen, octet(0)), ids.channelOpenOk);
    return client;
  }

  /** Sends a method, and waits for the answer. @returns its arguments */
  call(bytes: Buffer, answer: number): Promise<Buffer> {
    return new Promise((resolve) => {
      this.#expected.push({ id: answer, resolve });
      this.write(bytes);
    });
  }

  declareQueue(name: string, args: Arguments = {}, durable = false): Promise<Buffer> {
    const flags = octet(durable ? 2 : 0);
    return this.call(method(1, ids.queueDeclare, short(0), shortstr(name), flags, table(args)), ids.queueDeclareOk);
  }

  /** The number of waiting messages. All earlier publishes of this channel are routed by then. */
  async waiting(queue: string): Promise<number> {
    const passive = method(1, ids.queueDeclare, short(0), shortstr(queue), octet(1), table({}));
    const answer = await this.call(passive, ids.queueDeclareOk);
    return answer.readUInt32BE(1 + (answer[0] as number));
  }

  deleteQueue(name: string): Promise<Buffer> {
    return this.call(method(1, ids.queueDelete, short(0), shortstr(name), octet(0)), ids.queueDeleteOk);
  }

  declareExchange(name: string, type: string): Promise<Buffer> {
    // auto-delete: the exchange is deleted with the last of its queues.
    const declare = method(1, ids.exchangeDeclare, short(0), shortstr(name), shortstr(type), octet(4), table({}));
    return this.call(declare, ids.exchangeDeclareOk);
  }

  bindQueue(queue: string, exchange: string, key: string): Promise<Buffer> {
    const bind = method(
      1,
      ids.queueBind,
      short(0),
      shortstr(queue),
      shortstr(exchange),
      shortstr(key),
      octet(0),
      table({}),
    );
    return this.call(bind, ids.queueBindOk);
  }

  /** @param prefetch 0 for a consumer without acks */
  async consume(queue: string, prefetch = 250): Promise<void> {
    await this.call(method(1, ids.basicQos, long(0), short(prefetch), octet(0)), ids.basicQosOk);
    const flags = octet(prefetch === 0 ? 2 : 0);
    const consume = method(1, ids.basicConsume, short(0), shortstr(queue), shortstr(''), flags, table({}));
    await this.call(consume, ids.basicConsumeOk);
  }

  async confirmSelect(): Promise<void> {
    await this.call(method(1, ids.confirmSelect, octet(0)), ids.confirmSelectOk);
  }

  /** Acks all up to this tag. */
  ack(tag: number): void {
    const bytes = Buffer.from(ackAll);
    bytes.writeUInt32BE(tag, tagAt);
    this.write(bytes);
  }

  /** Rejects each message without requeue, in one write. */
  reject(from: number, to: number): void {
    const all = Buffer.allocUnsafe(rejectOne.length * (to - from + 1));
    for (let tag = from, at = 0; tag <= to; tag++, at += rejectOne.length) {
      all.set(rejectOne, at);
      all.writeUInt32BE(tag, at + tagAt);
    }
    this.write(all);
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.call(
      method(0, ids.connectionClose, short(200), shortstr('done'), short(0), short(0)),
      ids.connectionCloseOk,
    );
    this.#socket.destroy();
  }

  #confirm(tag: number, multiple: boolean): void {
    if (multiple || tag === this.confirmed + 1) this.confirmed = Math.max(this.confirmed, tag);
    else this.#early.add(tag);
    while (this.#early.delete(this.confirmed + 1)) this.confirmed++;
    this.onConfirmed();
  }

  #replied(id: number, payload: Buffer): void {
    if (id === ids.connectionClose || id === ids.channelClose) {
      throw new Error(payload.toString('latin1', 3, 3 + (payload[2] as number)));
    }
    if (this.#expected[0]?.id === id) this.#expected.shift()?.resolve(Buffer.from(payload));
  }

  #lost(error: Error): void {
    if (!this.#isClosing) throw error;
  }
}
