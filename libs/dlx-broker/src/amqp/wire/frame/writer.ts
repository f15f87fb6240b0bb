import { ByteWriter, noBytes } from '../../../engine/message/index.js';

/** The types of frames. */
export const frameTypes = { method: 1, header: 2, body: 3, heartbeat: 8 } as const;
/** The octet at the end of each frame. */
export const frameEnd = 0xce;
/** The smallest frame-max of AMQP 0-9-1, in bytes. */
export const minFrameSize = 4096;

/** Bytes around a frame's payload: type, channel, size and the end octet. */
export const frameOverhead = 8;

/** Bytes of a large buffer. More output of one turn is written in pieces of this size. */
export const pooledSize = 65_536;

/** Bytes of a small buffer, enough for what most connections send in a turn. */
export const smallSize = 2_048;

/** The most large buffers that are kept for the next turn; others are left to the garbage collector. */
const maxLarge = 64;

/** The most small buffers that are kept: each of many connections may need one in the same turn. */
const maxSmall = 2_048;

/**
 * Output buffers, used again as soon as the socket has sent them: a new buffer for each write would cost more in garbage
 * collection than all else that the listener does. A connection begins with a small one, because thousands of
 * connections may send a little in the same turn.
 */
export class BufferPool {
  readonly #large: Buffer[] = [];
  readonly #small: Buffer[] = [];

  /** @param needed bytes, {@link pooledSize} at most @returns a buffer with as many or more */
  take(needed: number): Buffer {
    if (needed <= smallSize) return this.#small.pop() ?? Buffer.allocUnsafeSlow(smallSize);
    return this.#large.pop() ?? Buffer.allocUnsafeSlow(pooledSize);
  }

  /** Takes a buffer back. One of another size was made for a large frame, and is not kept. */
  giveBack(buffer: Buffer): void {
    const { length } = buffer;
    if (length === smallSize) {
      if (this.#small.length < maxSmall) this.#small.push(buffer);
    } else if (length === pooledSize && this.#large.length < maxLarge) this.#large.push(buffer);
  }
}

/** Takes the output of a writer. */
export interface FrameOutput {
  /** Writes bytes, and calls `done` when they may be overwritten. */
  write(bytes: Uint8Array, done: (() => void) | undefined): void;
  /** Called for the first bytes of a turn: {@link FrameWriter.flush} has to follow. */
  requestFlush(): void;
}

/** Output of up to this many bytes is copied when it is written, so that its pooled buffer is free at once. */
const maxCopied = 8_192;

/** Bodies from this size on are given to the socket without a copy, in bytes. */
const minUncopied = 16_384;

/**
 * Gathers a connection's frames in a pooled buffer, a small one at first. A large buffer is written when it is full, and any
 * buffer when {@link flush} is called, once per turn of the event loop.
 */
export class FrameWriter extends ByteWriter {
  /** The largest payload the peer takes. */
  maxPayload = minPayload;
  readonly #pool: BufferPool;
  readonly #output: FrameOutput;
  #frame = 0;

  constructor(pool: BufferPool, output: FrameOutput) {
    super(noBytes);
    this.#pool = pool;
    this.#output = output;
  }

  /** Bytes gathered and not yet given to the socket. */
  get pending(): number {
    return this.at;
  }

  /** Appends bytes that are no frame, such as a protocol header. */
  plain(bytes: Uint8Array): void {
    this.#frame = this.at;
    this.raw(bytes, 0, bytes.length);
  }

  /** Begins a frame. */
  begin(type: number, channel: number): void {
    this.#frame = this.at;
    if (this.at + 7 > this.bytes.length) this.grow(7);
    const { bytes } = this;
    const start = this.at;
    bytes[start] = type;
    bytes[start + 1] = channel >>> 8;
    bytes[start + 2] = channel;
    this.at = start + 7;
  }

  /** Begins a method frame. @param id class and method in one number */
  method(channel: number, id: number): void {
    this.begin(frameTypes.method, channel);
    this.long(id);
  }

  /** Ends the frame begun last. */
  end(): void {
    if (this.at + 1 > this.bytes.length) this.grow(1);
    const { bytes } = this;
    const size = this.at - this.#frame - 7;
    const at = this.#frame + 3;
    bytes[at] = size >>> 24;
    bytes[at + 1] = size >>> 16;
    bytes[at + 2] = size >>> 8;
    bytes[at + 3] = size;
    bytes[this.at++] = frameEnd;
  }

  /** A body in as many frames as the peer's frame-max asks for; none when it is empty (rule T6). */
  body(channel: number, body: Uint8Array): void {
    const { length } = body;
    for (let from = 0; from < length; from += this.maxPayload) {
      const to = Math.min(length, from + this.maxPayload);
      this.begin(frameTypes.body, channel);
      if (to - from < minUncopied) {
        this.raw(body, from, to);
        this.end();
      } else this.#writeUncopied(body, from, to);
    }
  }

  heartbeat(): void {
    this.begin(frameTypes.heartbeat, 0);
    this.end();
  }

  /** Gives to the socket what has been gathered. */
  flush(): void {
    const { at, bytes } = this;
    if (at === 0) return;
    this.at = 0;
    this.#frame = 0;
    this.bytes = noBytes;
    this.#give(bytes, at);
  }

  /**
   * Called in the middle of a frame. A small buffer is replaced by a large one. A large one is full: the frames before this one
   * are written, and this one moves to the front of a new buffer.
   */
  protected override grow(length: number): void {
    if (this.at === 0) this.#output.requestFlush();
    const old = this.bytes;
    const whole = old.length > smallSize ? this.#frame : 0;
    const moved = this.at - whole;
    const needed = moved + length;
    const next = needed <= pooledSize ? this.#pool.take(needed) : Buffer.allocUnsafeSlow(needed * 2);
    old.copy(next, 0, whole, this.at);
    this.bytes = next;
    this.at = moved;
    this.#frame -= whole;
    if (whole > 0) this.#give(old, whole);
    else this.#pool.giveBack(old);
  }

  /** Offsets count from the start of the frame, because the frame may move to another buffer. */
  protected override offset(): number {
    return this.at - this.#frame;
  }

  protected override position(offset: number): number {
    return this.#frame + offset;
  }

  /** Passes a part of the body to the socket without a copy, between the start of the frame and its end octet. */
  #writeUncopied(body: Uint8Array, from: number, to: number): void {
    this.bytes.writeUInt32BE(to - from, this.#frame + 3);
    this.flush();
    this.#output.write(body.subarray(from, to), undefined);
    this.octet(frameEnd);
  }

  #give(bytes: Buffer, length: number): void {
    if (length <= maxCopied) {
      const copy = Buffer.allocUnsafe(length);
      bytes.copy(copy, 0, 0, length);
      this.#output.write(copy, undefined);
      this.#pool.giveBack(bytes);
    } else this.#output.write(bytes.subarray(0, length), () => this.#pool.giveBack(bytes));
  }
}

/** The largest payload until frame-max is negotiated. */
const minPayload = minFrameSize - frameOverhead;
