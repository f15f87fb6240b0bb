import { WireError } from '../wire-error.js';
import { firstFrameSize, frameOverhead } from './sizes.js';

/** The types of frames. */
export const frameTypes = { method: 1, header: 2, body: 3, heartbeat: 8 } as const;

export const frameEnd = 0xce;

/** Type, channel and size in front of a payload. */
const prefix = 7;

/**
 * Bytes above the largest payload that are tolerated, as in RabbitMQ: some clients do not count the overhead in
 * frame-max.
 */
const tolerated = frameOverhead;

/** Receives the frames of a reader. */
export interface FrameSink {
  /**
   * One whole frame; its payload lies in `bytes` from `start` to `end`, and only for the time of the call.
   * @returns false when it is not taken now: it is offered again at the next {@link FrameReader.run}
   */
  frame(type: number, channel: number, bytes: Buffer, start: number, end: number): boolean;
  /** The received part of a frame was dropped, see {@link FrameHolder}. Nothing more can be read. */
  gaveUp?(): void;
}

/** A reader that holds a part of a frame. */
export interface FrameHolder {
  /** Drops the part, and ends the connection. */
  drop(): void;
}

/** Counts the parts of frames that all readers of a listener hold. */
export interface HeldFrames {
  /** The holder has received a part of its frame. @param bytes by which its memory has grown, at least 0 */
  grew(holder: FrameHolder, bytes: number): void;
  /** Its frame is whole, or given up. @param bytes that it held */
  over(holder: FrameHolder, bytes: number): void;
}

/**
 * Cuts a stream of bytes into frames, however it arrives. A frame that came in pieces is put together in a buffer that
 * grows with the bytes received, not with the size announced.
 */
export class FrameReader implements FrameHolder {
  /** The largest payload allowed; much more is refused before anything is kept. */
  largest = firstFrameSize - frameOverhead;
  /** The largest payload of a content header, if it may be above that: RabbitMQ does not split headers for frame-max. */
  largestHeader = 0;
  /** The input was not a frame, so the start of the next frame is unknown. */
  isBroken = false;
  readonly #sink: FrameSink;
  /** Counts the parts of frames of all readers of the listener. */
  readonly #unfinished: HeldFrames | undefined;
  /** Chunks that are not cut into frames yet. */
  #chunks: Buffer[] = [];
  /** The position in the first chunk. */
  #at = 0;
  #partial: Buffer | undefined;
  #filled = 0;
  #isPaused = false;

  constructor(sink: FrameSink, unfinished?: HeldFrames) {
    this.#sink = sink;
    this.#unfinished = unfinished;
  }

  /** Bytes held for a frame that is not whole. */
  get held(): number {
    return this.#partial?.length ?? 0;
  }

  /** Whether bytes wait that {@link run} has not looked at. */
  get hasMore(): boolean {
    return this.#chunks.length > 0;
  }

  /** The number of bytes that are not read yet. */
  get waiting(): number {
    let bytes = -this.#at;
    for (const { length } of this.#chunks) bytes += length;
    return bytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  /** Within {@link run}: ends it after this frame. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Passes all whole frames to the sink, until the sink refuses one. @throws WireError 501; nothing more can be read then */
  run(): void {
    this.#isPaused = false;
    for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[0]) {
      if (!this.#read(chunk)) return;
      this.#chunks.shift();
      this.#at = 0;
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.#chunks = [];
    this.#at = 0;
    this.#forget();
  }

  drop(): void {
    this.isBroken = true;
    this.clear();
    this.#sink.gaveUp?.();
  }

  /** @returns whether all of the chunk has been dealt with */
  #read(chunk: Buffer): boolean {
    const partial = this.#filled === 0 ? 'taken' : this.#complete(chunk);
    if (partial !== 'taken') return partial === 'incomplete';
    const { length } = chunk;
    let at = this.#at;
    while (length - at >= prefix) {
      if (this.#isPaused) return this.#stop(at);
      const size = chunk.readUInt32BE(at + 3);
      if (size > this.largest + tolerated) this.#checkLarge(chunk, at, size);
      const end = at + prefix + size;
      if (end >= length) break;
      if (chunk[end] !== frameEnd) throw this.#badEnd(chunk, at, end);
      const channel = ((chunk[at + 1] as number) << 8) | (chunk[at + 2] as number);
      if (!this.#sink.frame(chunk[at] as number, channel, chunk, at + prefix, end)) return this.#stop(at);
      at = end + 1;
    }
    if (at < length) this.#keep(chunk, at, length);
    this.#at = length;
    return true;
  }

  #stop(at: number): false {
    this.#at = at;
    return false;
  }

  /** Continues a frame that came in pieces. */
  #complete(chunk: Buffer): 'incomplete' | 'refused' | 'taken' {
    if (this.#filled < prefix) this.#take(chunk, prefix);
    if (this.#filled < prefix) return 'incomplete';
    const partial = this.#partial as Buffer;
    const size = partial.readUInt32BE(3);
    if (size > this.largest + tolerated) this.#checkLarge(partial, 0, size);
    const whole = prefix + size + 1;
    this.#take(chunk, whole);
    if (this.#filled < whole) return 'incomplete';
    // The frame is complete: if it waits now, it waits for this side and not for its client.
    this.#unfinished?.over(this, this.held);
    // `#take` may have replaced the buffer.
    const frame = this.#partial as Buffer;
    if (frame[whole - 1] !== frameEnd) throw this.#badEnd(frame, 0, whole - 1);
    if (!this.#sink.frame(frame[0] as number, frame.readUInt16BE(1), frame, prefix, whole - 1)) return 'refused';
    this.#forget();
    return 'taken';
  }

  #forget(): void {
    if (this.#partial !== undefined) this.#unfinished?.over(this, this.#partial.length);
    this.#filled = 0;
    this.#partial = undefined;
  }

  /** Fills up to `wanted` bytes from where the chunk is. */
  #take(chunk: Buffer, wanted: number): void {
    const end = Math.min(chunk.length, this.#at + wanted - this.#filled);
    if (end > this.#at) this.#keep(chunk, this.#at, end);
    this.#at = Math.max(this.#at, end);
  }

  #keep(chunk: Buffer, from: number, to: number): void {
    const needed = this.#filled + to - from;
    const { held } = this;
    if (this.#partial === undefined || held < needed) {
      const bigger = Buffer.allocUnsafe(this.#lengthFor(needed));
      this.#partial?.copy(bigger, 0, 0, this.#filled);
      this.#partial = bigger;
    }
    chunk.copy(this.#partial, this.#filled, from, to);
    this.#filled = needed;
    this.#unfinished?.grew(this, this.#partial.length - held);
  }

  /** Twice what has come, so that many small pieces are not copied again and again, but no more than the frame. */
  #lengthFor(needed: number): number {
    const filled = this.#filled;
    if (filled < prefix) return needed;
    const whole = prefix + (this.#partial as Buffer).readUInt32BE(3) + 1;
    return Math.max(needed, Math.min(filled * 2, whole));
  }

  #badEnd(bytes: Buffer, at: number, end: number): WireError {
    this.isBroken = true;
    const payload = bytes.subarray(at + prefix, end);
    return frameError(bytes[at] as number, payload, `{invalid_frame_end_marker,${bytes[end]}}`);
  }

  #checkLarge(bytes: Buffer, at: number, size: number): void {
    if (bytes[at] === frameTypes.header && size <= this.largestHeader) return;
    this.isBroken = true;
    throw frameError(bytes[at] as number, empty, `{frame_too_large,${size},${this.largest}}`);
  }
}

const empty = Buffer.alloc(0);

/** A payload as error texts show it: its first bytes in decimal. */
function snippet(payload: Buffer): string {
  const which = payload.length <= 16 ? 'all' : 'first 16';
  return `${which} octets = ${erlangTerm(payload.subarray(0, 16))}`;
}

/** Bytes in decimal, as RabbitMQ prints what it cannot decode. */
export const erlangBinary = (bytes: Uint8Array): string => `<<${Array.from(bytes).join()}>>`;

/** Bytes as RabbitMQ prints them: as text if all are printable, else in decimal. */
function erlangTerm(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  return /^[\x20-\x7e\xa0-\xff]+$/.test(text) ? `<<${JSON.stringify(text)}>>` : erlangBinary(bytes);
}

/** The error of bytes that are no frame. */
export const frameError = (type: number, payload: Buffer, reason: string): WireError =>
  new WireError('FRAME_ERROR', `type ${type}, ${snippet(payload)}: ${reason}`);

/** The error of a frame whose type is not expected here. */
export const unexpectedFrame = (type: number, payload: Buffer): WireError =>
  new WireError('UNEXPECTED_FRAME', `type ${type}, ${snippet(payload)}`);
