import { connect, type Socket } from 'node:net';
import { FrameReader, type Frame } from './frames.js';

/** A socket and nothing else: for what a well-behaved client never does. */
export class RawPeer {
  readonly received: Buffer[] = [];
  readonly #frames: Frame[] = [];
  readonly #waiting: ((frame: Frame) => void)[] = [];
  /** Everything received until the other side ended. */
  readonly ended: Promise<Buffer>;

  private constructor(readonly socket: Socket) {
    const reader = new FrameReader();
    this.ended = new Promise((resolve) => socket.once('close', () => resolve(Buffer.concat(this.received))));
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      this.received.push(bytes);
      if (bytes.subarray(0, 4).toString() === 'AMQP') return;
      for (const frame of reader.take(bytes)) {
        const waiting = this.#waiting.shift();
        if (waiting === undefined) this.#frames.push(frame);
        else waiting(frame);
      }
    });
  }

  static async connect(host: string, port: number): Promise<RawPeer> {
    const socket = connect(port, host);
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new RawPeer(socket);
  }

  send(bytes: Buffer): void {
    this.socket.write(bytes);
  }

  next(): Promise<Frame> {
    const frame = this.#frames.shift();
    if (frame !== undefined) return Promise.resolve(frame);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
