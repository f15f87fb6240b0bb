import { type Message, packedLength, StoredBody } from '../../message/index.js';
import type { StoreError } from '../store-error.js';
import { endOfRecord } from './record.js';
import { bodyLost, bodyUnreadable, shortRead } from './faults.js';
import type { DiskFile } from './disk.js';
import type { MessageTable } from './message-table.js';
import type { Segment, Segments } from './segment.js';
import { numberIn } from './slot.js';

/** What a body costs beside its bytes. */
const overhead = 160;
/** Bytes read at once: those who wait in a line stand in the log in a line. */
const windowLength = 262_144;
/** Sizes remembered. */
const mostSizes = 4_096;
const none = Buffer.alloc(0);

/** Headers stay with the message; while it has its body, too, they take of the memory for bodies. */
const costOf = ({ size, own }: Message): number => size + overhead + packedLength(own.headers);

/**
 * Bodies in memory, the newest as far as the memory goes, and on disk. A message that is stored can let go of its body;
 * a reader then reads it back, and checks it.
 */
export class Bodies {
  /** Messages with their bodies in memory, a ring: from the oldest to the newest, with gaps where one is gone. */
  #ring: (Message | undefined)[] = new Array<Message | undefined>(1024);
  #oldest = 1;
  #next = 1;
  /** Bytes in memory. */
  bytes = 0;
  /** Hears of bodies that are proven lost, once for each file. */
  damaged: (error: StoreError) => void = () => undefined;
  /** The files these are in. */
  readonly #lostIn = new Set<string>();
  /** By size. */
  readonly #inLog = new Map<number, BodyInLog>();
  #window = none;
  #windowOf: Segment | undefined;
  #windowStart = 0;

  constructor(
    readonly messages: MessageTable,
    readonly segments: Segments,
    /** Bytes at most. */
    readonly memory: number,
  ) {}

  /** A message that is stored now. */
  keep(message: Message): void {
    if (!message.isLoaded) return this.pageOut(message, message.size);
    if (this.#next - this.#oldest === this.#ring.length) this.#grow();
    this.messages.held.set(numberIn(message.slot), this.#next);
    this.#ring[this.#next++ & (this.#ring.length - 1)] = message;
    this.bytes += costOf(message);
    // Never this one: it is about to leave.
    while (this.bytes > this.memory && this.#oldest < this.#next - 1) this.#pageOutOldest();
  }

  /** Its body is in memory, perhaps again. */
  fetched(message: Message): void {
    const number = numberIn(message.slot);
    if (this.messages.held.get(number) === 0 && this.messages.segment.get(number) !== 0) this.keep(message);
  }

  /** It is no longer stored; its body stays readable for holders of the message. */
  release(message: Message): void {
    const place = this.messages.held.get(numberIn(message.slot));
    if (place !== 0) this.#leave(place, message);
    this.detach(message);
  }

  /** From now on the message has its body without a slot, and without the message with which it shares the body. */
  detach(message: Message): void {
    const root = this.rootOf(message);
    message.slot = undefined;
    if (message.isLoaded) return;
    const segment = this.segments.get(this.messages.segment.get(root));
    if (segment === undefined) return; // not written yet: then the body was detached before
    segment.isHeld = true;
    const { offset, length } = this.messages;
    message.pageOut(new DetachedBody(this, segment, offset.get(root), length.get(root), message.size));
  }

  /** The body of the message is in the log. Most bodies are of few sizes: those of one size share an object. */
  pageOut(message: Message, size: number): void {
    let body = this.#inLog.get(size);
    if (body === undefined) {
      if (this.#inLog.size >= mostSizes) this.#inLog.clear();
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

  /** After something was written over. */
  forgetWindow(): void {
    this.#windowOf = undefined;
  }

  /** @throws StoreError `damaged` only when two looks at the disk agree that it is not what was written */
  read(segment: Segment, offset: number, length: number, size: number): Uint8Array {
    let end = this.#endInWindow(segment, offset, length);
    // Also what was read before it was written to its end.
    for (let look = 0; end === 0 && look < 2; look++) {
      this.#fill(segment, offset, length);
      end = this.#endInWindow(segment, offset, length);
    }
    if (end === 0) throw this.#lost(segment);
    const body = Buffer.from(this.#window.subarray(end - size, end));
    if (this.#window.length > windowLength * 4) this.#windowOf = undefined;
    return body;
  }

  /** Where the record ends in the window; 0 when it is not there, or not as it was written. */
  #endInWindow(segment: Segment, offset: number, length: number): number {
    if (this.#windowOf !== segment) return 0;
    const start = offset - this.#windowStart;
    if (start < 0 || start + length > this.#window.length) return 0;
    return endOfRecord(this.#window, start, segment.salt, start + length);
  }

  #fill(segment: Segment, offset: number, length: number): void {
    this.#windowOf = undefined;
    const wanted = Math.max(length, Math.min(windowLength, segment.end - offset));
    let read: Buffer<ArrayBuffer>;
    try {
      read = readNow(segment.file, wanted, length, offset);
    } catch (error) {
      throw bodyUnreadable(segment.name, error);
    }
    this.#window = read;
    this.#windowOf = segment;
    this.#windowStart = offset;
  }

  #lost({ name }: Segment): StoreError {
    const error = bodyLost(name);
    if (!this.#lostIn.has(name)) {
      this.#lostIn.add(name);
      this.damaged(error);
    }
    return error;
  }

  #pageOutOldest(): void {
    const message = this.#ring[this.#oldest & (this.#ring.length - 1)];
    if (message === undefined) return void this.#oldest++;
    this.#leave(this.#oldest, message);
    this.pageOut(message, message.size);
  }

  #leave(place: number, message: Message): void {
    this.#ring[place & (this.#ring.length - 1)] = undefined;
    this.messages.held.set(numberIn(message.slot), 0);
    this.bytes -= costOf(message);
    while (this.#oldest < this.#next && this.#ring[this.#oldest & (this.#ring.length - 1)] === undefined)
      this.#oldest++;
  }

  #grow(): void {
    const ring = new Array<Message | undefined>(this.#ring.length * 2);
    for (let place = this.#oldest; place < this.#next; place++) {
      ring[place & (ring.length - 1)] = this.#ring[place & (this.#ring.length - 1)];
    }
    this.#ring = ring;
  }
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
    readonly segment: Segment,
    /** Of the record. */
    readonly offset: number,
    readonly recordLength: number,
    readonly length: number,
  ) {
    super();
  }

  read(): Uint8Array {
    return this.bodies.read(this.segment, this.offset, this.recordLength, this.length);
  }
}

/**
 * @param needed bytes of the record itself: if only what stands behind it cannot be read, it is enough
 * @returns fewer bytes than needed only when the file has no more
 */
function readNow(file: DiskFile, wanted: number, needed: number, offset: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(wanted);
  let read: number;
  try {
    read = file.readSync(bytes, offset);
  } catch (error) {
    if (wanted === needed) throw error;
    return readNow(file, needed, needed, offset);
  }
  if (read < needed) {
    const size = file.sizeSync();
    if (size > offset + read) throw shortRead(needed, read, size);
  }
  return bytes.subarray(0, read);
}
