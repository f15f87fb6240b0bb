import { Deque } from '../../engine/broker/index.js';
import { keptCopy, type Message, packedLength, StoredBody } from '../../engine/message/index.js';
import { bodyLost, bodyUnreadable, shortRead, type StoreError } from './faults.js';
import type { DiskFile } from './options.js';
import { endOfRecord } from './segment-header.js';
import type { HeldSegment, Segment, Segments } from './segment.js';
import { type MessageTable, numberIn } from './tables.js';

/** The estimated memory of a body besides its bytes. */
const overhead = 160;
/** Bytes of one read: messages of a queue often have the same order in the log, so the next bodies come with it. */
const windowLength = 262_144;
/** The most windows: the fronts of as many queues can be read in turn without reading a place of the log again. */
const maxWindows = 8;
/** Gaps that stay between bodies in memory, besides one for each body. */
const mostGaps = 1_024;
/** Gaps that are removed in one step. */
const trimmed = 64;
/** The most sizes for which an object is kept. */
const maxSizes = 4_096;

/** Bytes of a segment in memory. */
interface Window {
  readonly segment: Segment;
  readonly start: number;
  readonly bytes: Buffer<ArrayBuffer>;
}

/** Bytes of a message with its body in memory: packed headers count as well. */
const costOf = ({ size, own }: Message): number => size + overhead + packedLength(own.headers);

/**
 * A cache of bodies: the newest ones are in memory, the others are paged out to the log. A body that is read from the log
 * is checked.
 */
export class Bodies {
  /** Messages with their bodies in memory, from the oldest to the newest, with gaps for those removed. */
  readonly #loaded = new Deque<Message | undefined>();
  /** The number of messages in it. */
  #count = 0;
  /** The place of the oldest one. */
  #oldest: number;
  /** Bytes in memory. */
  bytes = 0;
  /** Called for lost bodies, once for each segment. */
  damaged: (error: StoreError, segment: Segment) => void = () => undefined;
  /** Bytes behind the end of the active segment: those of the batch that is being written. */
  unwritten: (offset: number, length: number) => Buffer | undefined = () => undefined;
  /** Files with lost bodies. */
  readonly #lostIn = new Set<string>();
  /** Paged-out bodies by their size: messages with bodies of one size share an object. */
  readonly #inLog = new Map<number, BodyInLog>();
  /** The last one that was used stands first. */
  readonly #windows: Window[] = [];
  /** The buffer of a window that was given up, for the next one: thousands are read while a long queue is drained. */
  #spare: Buffer<ArrayBuffer> | undefined;

  constructor(
    readonly messages: MessageTable,
    readonly segments: Segments,
    /** The most bytes of bodies in memory. */
    readonly memory: number,
    /** The place of the first body. */
    firstPlace = 1,
  ) {
    this.#oldest = firstPlace;
  }

  /** Adds a message that has been written. The body of a message that was delivered while its batch was being written is in memory already. */
  add(message: Message): void {
    if (!message.isLoaded) return this.pageOut(message, message.size);
    const number = numberIn(message.slot);
    if (this.messages.cached.get(number) !== 0) return;
    this.#count++;
    this.#push(message);
    this.bytes += costOf(message);
    if (this.#loaded.length > 2 * this.#count + mostGaps) this.#turnOver();
    // The newest message stays, because it is about to be delivered.
    while (this.bytes > this.memory && this.#count > 1) this.#pageOutOldest();
  }

  /** The body of the message is in memory, perhaps again. */
  loaded(message: Message): void {
    const number = numberIn(message.slot);
    if (this.messages.cached.get(number) === 0 && this.messages.segment.get(number) !== 0) this.add(message);
  }

  /** The message leaves the store. Its body stays readable. */
  release(message: Message): void {
    const place = this.messages.cached.get(numberIn(message.slot));
    if (place !== 0) this.#remove(place, message);
    this.detach(message);
  }

  /**
   * The object of this message is about to be forgotten, and the store keeps its row. Who still has the object can read its body.
   */
  forget(message: Message): void {
    message.pageOut(this.detached(numberIn(message.slot), message.size) as StoredBody);
    message.slot = undefined;
  }

  /** The body of a message in the log, for a message without a slot. */
  detached(number: number, length: number): StoredBody | undefined {
    const { root, segment, offset, length: lengths } = this.messages;
    const owner = root.get(number) || number;
    const found = this.segments.get(segment.get(owner));
    return found && new DetachedBody(this, found.hold(), offset.get(owner), lengths.get(owner), length);
  }

  /** From now on the message has its body without a slot, and without the message with which it shares the body. */
  detach(message: Message): void {
    const root = this.rootOf(message);
    message.slot = undefined;
    if (message.isLoaded) return;
    const segment = this.segments.get(this.messages.segment.get(root));
    if (segment === undefined) return; // not written yet: then the body was detached before
    const { offset, length } = this.messages;
    message.pageOut(new DetachedBody(this, segment.hold(), offset.get(root), length.get(root), message.size));
  }

  /** The body of the message is in the log. Most bodies are of few sizes: those of one size share an object. */
  pageOut(message: Message, size: number): void {
    let body = this.#inLog.get(size);
    if (body === undefined) {
      if (this.#inLog.size >= maxSizes) this.#inLog.clear();
      this.#inLog.set(size, (body = new BodyInLog(this, size)));
    }
    message.pageOut(body);
  }

  /** @throws StoreError when the record is not what was written */
  bodyOf(message: Message): Uint8Array {
    const root = this.rootOf(message);
    const segment = this.segments.get(this.messages.segment.get(root)) as Segment;
    return this.read(segment, this.messages.offset.get(root), this.messages.length.get(root), message.size);
  }

  /** The number of the message whose record has the body; 0 when the body is of no message in the store. */
  rootOf(message: Message): number {
    const number = numberIn((message.sharesWith ?? message).slot);
    return this.messages.root.get(number) || number;
  }

  /** @throws StoreError `damaged` only when two reads agree that the record is not what was written */
  read(segment: Segment, offset: number, length: number, size: number): Uint8Array {
    let body = this.#inBatch(segment, offset, length, size) ?? this.#inWindows(segment, offset, length, size);
    // A window may have been read while the record was being written.
    for (let attempt = 0; body === undefined && attempt < 2; attempt++) {
      const window = this.#read(segment, offset, length);
      body = bodyIn(window, segment, offset, length, size);
      // A very large record is unlikely to be read again.
      if (window.bytes.length <= windowLength * 4) this.#keep(window);
    }
    if (body === undefined) throw this.#lost(segment);
    return body;
  }

  /** A compaction has moved the record into the batch that is being written. */
  #inBatch(segment: Segment, offset: number, length: number, size: number): Buffer | undefined {
    if (offset < segment.end || segment !== this.segments.active) return undefined;
    return this.unwritten(offset, length)?.subarray(length - size);
  }

  #inWindows(segment: Segment, offset: number, length: number, size: number): Buffer | undefined {
    for (let index = 0; index < this.#windows.length; index++) {
      const window = this.#windows[index] as Window;
      const body = bodyIn(window, segment, offset, length, size);
      if (body === undefined) continue;
      if (index > 0) this.#keep(this.#windows.splice(index, 1)[0] as Window);
      return body;
    }
    return undefined;
  }

  #keep(window: Window): void {
    this.#windows.unshift(window);
    if (this.#windows.length <= maxWindows) return;
    const { buffer } = (this.#windows.pop() as Window).bytes;
    if (buffer.byteLength === windowLength) this.#spare = Buffer.from(buffer);
  }

  #bufferOf(length: number): Buffer<ArrayBuffer> {
    if (length > windowLength) return Buffer.allocUnsafeSlow(length);
    const buffer = this.#spare ?? Buffer.allocUnsafeSlow(windowLength);
    this.#spare = undefined;
    return buffer.subarray(0, length);
  }

  #read(segment: Segment, offset: number, length: number): Window {
    const wanted = Math.max(length, Math.min(windowLength, segment.end - offset));
    try {
      return { segment, start: offset, bytes: readNow(segment.file, this.#bufferOf(wanted), length, offset) };
    } catch (error) {
      throw bodyUnreadable(segment.name, error);
    }
  }

  #lost(segment: Segment): StoreError {
    const { name } = segment;
    const error = bodyLost(name);
    if (!this.#lostIn.has(name)) {
      this.#lostIn.add(name);
      this.damaged(error, segment);
    }
    return error;
  }

  #push(message: Message): void {
    // The column has 32 bits, and 0 in it means that the body is not in memory.
    if ((this.#oldest + this.#loaded.length) >>> 0 === 0) this.#loaded.push(undefined);
    this.messages.cached.set(numberIn(message.slot), this.#oldest + this.#loaded.length);
    this.#loaded.push(message);
  }

  #shift(): Message | undefined {
    this.#oldest++;
    return this.#loaded.shift();
  }

  /**
   * Makes the oldest message the newest one. The newest messages of a long queue stay in memory while all before them are read, delivered and
   * acked: the gaps of millions would stand behind them.
   */
  #turnOver(): void {
    const message = this.#shift();
    if (message !== undefined) this.#push(message);
    this.#trim();
  }

  #pageOutOldest(): void {
    const message = this.#loaded.first();
    if (message === undefined) return this.#trim();
    this.#remove(this.#oldest, message);
    this.pageOut(message, message.size);
  }

  #remove(place: number, message: Message): void {
    // Places are counted on beyond the largest number of their column, which then begins at 0 again.
    this.#loaded.replace((place - this.#oldest) >>> 0, undefined);
    this.messages.cached.set(numberIn(message.slot), 0);
    this.bytes -= costOf(message);
    this.#count--;
    this.#trim();
  }

  /** Removes some gaps from the front. */
  #trim(): void {
    for (let left = trimmed; left > 0 && this.#loaded.length > 0 && this.#loaded.first() === undefined; left--)
      this.#shift();
  }
}

/** A copy of the body; undefined when the record is not in the window, or is damaged. */
function bodyIn(window: Window, segment: Segment, offset: number, length: number, size: number): Buffer | undefined {
  if (window.segment !== segment) return undefined;
  const start = offset - window.start;
  if (start < 0 || start + length > window.bytes.length) return undefined;
  const end = endOfRecord(window.bytes, start, segment.salt, start + length);
  return end === 0 ? undefined : keptCopy(window.bytes, end - size, end);
}

/** A body in the log, found by the slot of its message. */
class BodyInLog extends StoredBody {
  constructor(
    readonly bodies: Bodies,
    readonly length: number,
  ) {
    super();
  }

  read(message: Message): Uint8Array {
    return this.bodies.bodyOf(message);
  }
}

/** A body in the log of a message without a slot. */
class DetachedBody extends StoredBody {
  constructor(
    readonly bodies: Bodies,
    readonly held: HeldSegment,
    /** Of the record. */
    readonly offset: number,
    readonly recordLength: number,
    readonly length: number,
  ) {
    super();
  }

  read(): Uint8Array {
    return this.bodies.read(this.held.segment, this.offset, this.recordLength, this.length);
  }
}

/**
 * @param into as many bytes as are wanted
 * @param needed bytes of the record itself, which are enough if the bytes behind it cannot be read
 * @returns fewer bytes than needed only when the file has no more
 */
function readNow(file: DiskFile, into: Buffer<ArrayBuffer>, needed: number, offset: number): Buffer<ArrayBuffer> {
  let read: number;
  try {
    read = file.readSync(into, offset);
  } catch (error) {
    if (into.length === needed) throw error;
    return readNow(file, into.subarray(0, needed), needed, offset);
  }
  if (read < needed) {
    const size = file.sizeSync();
    if (size > offset + read) throw shortRead(needed, read, size);
  }
  return into.subarray(0, read);
}
