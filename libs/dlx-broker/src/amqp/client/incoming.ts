import { noBytes } from '../../engine/message/index.js';
import { checkFrame, frameOverhead, FrameReader, type FrameSink, frameTypes, MethodReader } from '../wire/index.js';
import type { ChannelCore } from './channel-core.js';

/** RabbitMQ does not split content headers, whatever frame-max says. In bytes. */
const maxHeader = 16_777_216;

/** The receiver of frames and errors. */
export interface IncomingHost {
  /** The channel of this number; undefined when it is not open. */
  channel(number: number): Pick<ChannelCore, 'frame'> | undefined;
  /** A method for the connection itself. @param id class and method in one number */
  method(id: number, from: MethodReader): void;
  /** The first bytes are not AMQP 0-9-1. */
  foreign(bytes: Buffer): void;
  /** The server broke the protocol. @param code AMQP's reply code */
  violated(detail: string, code: number): void;
  /** Reading failed. */
  failed(error: unknown): void;
}

/** Cuts received bytes into frames, and passes each to its channel or to the connection. Its methods do not throw. */
export class Incoming implements FrameSink {
  /** True after the end of the connection: further bytes are ignored. */
  isOver = false;
  readonly #host: IncomingHost;
  readonly #reader = new FrameReader(this);
  readonly #from = new MethodReader(noBytes);
  #hasBegun = false;

  /** @param frameMax bytes of a frame at most */
  constructor(frameMax: number, host: IncomingHost) {
    this.#host = host;
    this.#reader.maxHeader = maxHeader;
    this.limit(frameMax);
  }

  /** @param frameMax bytes of a frame at most, from now on */
  limit(frameMax: number): void {
    this.#reader.maxPayload = frameMax - frameOverhead;
  }

  received(bytes: Buffer): void {
    if (this.isOver) return;
    if (!this.#hasBegun && bytes[0] !== frameTypes.method) return this.#host.foreign(bytes);
    this.#hasBegun = true;
    this.#reader.push(bytes);
    try {
      this.#reader.run();
    } catch (error) {
      this.#host.failed(error);
    }
  }

  frame(type: number, number: number, bytes: Buffer, start: number, end: number): boolean {
    if (this.isOver) return true;
    checkFrame(type, number, bytes, start, end);
    if (number > 0) this.#toChannel(type, number, bytes, start, end);
    else if (type === frameTypes.method) {
      this.#from.reset(bytes, start + 4, end);
      this.#host.method(bytes.readInt32BE(start), this.#from);
    } else if (type !== frameTypes.heartbeat) this.#host.violated(`a frame of type ${type} for no channel`, 505);
    return true;
  }

  #toChannel(type: number, number: number, bytes: Buffer, start: number, end: number): void {
    const channel = this.#host.channel(number);
    if (channel === undefined) this.#host.violated(`a frame for channel ${number}, which is not open`, 504);
    else channel.frame(type, bytes, start, end, this.#from);
  }
}
