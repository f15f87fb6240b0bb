import { Buffer } from 'node:buffer';
import { noBytes } from '../../../engine/message/index.js';
import { headerPrefix } from '../properties/received.js';
import { frameError, unexpectedFrame, type WireError } from '../wire-error.js';
import { frameEnd, frameOverhead, frameTypes, minFrameSize } from './writer.js';

/** The most bytes of one read. */
const size = 65_536;

/**
 * Plain sockets of this process read into this one buffer: a new buffer for each read costs as much as the small frames in it. The
 * bytes of a read are valid until the call that passes them returns, because the next read overwrites them.
 */
export const readBuffer = Buffer.allocUnsafeSlow(size);

/** Whether these bytes are a read in the common buffer, so that they have to be copied to be kept. */
export const isCommonRead = (bytes: Buffer): boolean => bytes.buffer === readBuffer.buffer;

/** Type, channel and size in front of a payload. */
const prefix = 7;

/**
 * A payload may be larger by this many bytes, as in RabbitMQ: some clients do not count the overhead in frame-max.
 */
const tolerance = frameOverhead;

/** Receives the frames of a reader. */
export interface FrameSink {
  /**
   * One complete frame. Its payload lies in `bytes` from `start` to `end`, and only for the time of the call.
   * @returns false when it is not taken now: it is offered again at the next {@link FrameReader.run}
   */
  frame(type: number, channel: number, bytes: Buffer, start: number, end: number): boolean;
  /** The received part of a frame was dropped, see {@link FrameHolder}. Nothing more can be read. */
  partDropped?(): void;
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
  /** The frame of the holder is complete or was dropped. @param bytes that the holder held */
  released(holder: FrameHolder, bytes: number): void;
}

/**
 * Cuts a stream of bytes into frames, however it arrives. A frame that came in pieces is put together in a buffer that
 * grows with the bytes received, not with the size announced.
 */
export class FrameReader implements FrameHolder {
  /** The largest payload. A frame that announces a larger one is refused before any of it is kept. */
  maxPayload = minFrameSize - frameOverhead;
  /** The largest payload of a content header, if it is above `maxPayload`: RabbitMQ does not split headers for frame-max. */
  maxHeader = 0;
  /** True after bytes that are no frame: the start of the next frame is unknown. */
  isBroken = false;
  readonly #sink: FrameSink;
  /** Counts the parts of frames of all readers of the listener. */
  readonly #unfinished: HeldFrames | undefined;
  /** The first chunk that is not cut into frames yet. Fields, because an array keeps room for more when it is empty again. */
  #chunk: Buffer | undefined;
  /** The chunks behind it; undefined for none. */
  #more: Buffer[] | undefined;
  /** The position in the first chunk. */
  #at = 0;
  #partial: Buffer | undefined;
  #filled = 0;
  #isPaused = false;

  constructor(sink: FrameSink, unfinished?: HeldFrames) {
    this.#sink = sink;
    this.#unfinished = unfinished;
  }

  /** Bytes held for a frame that is not complete. */
  get held(): number {
    return this.#partial?.length ?? 0;
  }

  /** Whether {@link run} has bytes to read. */
  get hasMore(): boolean {
    return this.#chunk !== undefined;
  }

  /** The number of bytes that are not read yet. */
  get waiting(): number {
    let bytes = (this.#chunk?.length ?? 0) - this.#at;
    if (this.#more !== undefined) for (const { length } of this.#more) bytes += length;
    return bytes;
  }

  push(chunk: Buffer): void {
    if (this.#chunk === undefined) this.#chunk = chunk;
    else (this.#more ??= []).push(chunk);
  }

  /** Copies what is not read yet of the last chunk, if it is a read in the common buffer. */
  keep(): void {
    const last = this.#more?.pop();
    if (last !== undefined) this.#more?.push(isCommonRead(last) ? Buffer.from(last) : last);
    else if (this.#chunk !== undefined && isCommonRead(this.#chunk)) {
      this.#chunk = Buffer.from(this.#chunk.subarray(this.#at));
      this.#at = 0;
    }
  }

  /** Within {@link run}: ends it after this frame. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Passes all complete frames to the sink, until the sink refuses one. @throws WireError 501; nothing more can be read then */
  run(): void {
    this.#isPaused = false;
    while (this.#chunk !== undefined) {
      if (!this.#read(this.#chunk)) return;
      this.#next();
      if (this.#isPaused) return; // the next chunk may only complete a frame, for which nothing else asks
    }
  }

  /** Discards all received bytes. */
  clear(): void {
    this.#chunk = undefined;
    this.#more = undefined;
    this.#at = 0;
    this.#forget();
  }

  drop(): void {
    this.isBroken = true;
    this.clear();
    this.#sink.partDropped?.();
  }

  #next(): void {
    this.#chunk = this.#more?.shift();
    if (this.#chunk === undefined) this.#more = undefined;
    this.#at = 0;
  }

  /** @returns whether all of the chunk was read */
  #read(chunk: Buffer): boolean {
    const partial = this.#filled === 0 ? 'taken' : this.#complete(chunk);
    if (partial !== 'taken') return partial === 'incomplete';
    const { length } = chunk;
    let at = this.#at;
    while (length - at >= prefix) {
      if (this.#isPaused) return this.#stop(at);
      const size = chunk.readUInt32BE(at + 3);
      if (size > this.maxPayload + tolerance) this.#checkLarge(chunk, at, size);
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
    if (size > this.maxPayload + tolerance) this.#checkLarge(partial, 0, size);
    const whole = prefix + size + 1;
    this.#take(chunk, whole);
    if (this.#filled < whole) return 'incomplete';
    // A complete frame is not counted: if it waits, it waits for this side and not for the client.
    this.#unfinished?.released(this, this.held);
    // `#take` may have replaced the buffer.
    const frame = this.#partial as Buffer;
    if (frame[whole - 1] !== frameEnd) throw this.#badEnd(frame, 0, whole - 1);
    if (!this.#sink.frame(frame[0] as number, frame.readUInt16BE(1), frame, prefix, whole - 1)) return 'refused';
    this.#forget();
    return 'taken';
  }

  #forget(): void {
    if (this.#partial !== undefined) this.#unfinished?.released(this, this.#partial.length);
    this.#filled = 0;
    this.#partial = undefined;
  }

  /** Copies bytes of the chunk until the partial frame has `wanted` bytes. */
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

  /** Twice the bytes received, so that many small pieces are not copied again and again, but no more than the frame. */
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
    if (bytes[at] === frameTypes.header && size <= this.maxHeader) return;
    this.isBroken = true;
    throw frameError(bytes[at] as number, noBytes, `{frame_too_large,${size},${this.maxPayload}}`);
  }
}

/**
 * Checks the type of a frame, and that its payload has the smallest length of that type. @throws WireError 501, or 505
 * for a heartbeat of a channel
 */
export function checkFrame(type: number, number: number, bytes: Buffer, start: number, end: number): void {
  const { method, header, body, heartbeat } = frameTypes;
  const length = end - start;
  if (type === body || (type === method && length >= 4) || (type === header && length >= headerPrefix)) return;
  const payload = bytes.subarray(start, end);
  if (type !== heartbeat || length > 0) throw frameError(type, payload, 'unknown_frame');
  if (number !== 0) throw unexpectedFrame(type, payload);
}

/** The protocol header of AMQP 0-9-1: the first bytes of a client, and the answer to a client that begins otherwise (rule T1). */
export const protocolHeader = Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]);

/** Reads the protocol header, which may come in pieces. */
export class HeaderReader {
  #received: Buffer = noBytes;

  /** @returns the bytes behind the header; `'incomplete'` if more bytes are needed, `'other'` if the bytes are no header */
  read(chunk: Buffer): Buffer | 'incomplete' | 'other' {
    const received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const length = Math.min(received.length, protocolHeader.length);
    if (!received.subarray(0, length).equals(protocolHeader.subarray(0, length))) return 'other';
    if (length === protocolHeader.length) return received.subarray(length);
    this.#received = Buffer.from(received);
    return 'incomplete';
  }
}
