import type { Message } from '../../engine/message/index.js';
import { ByteSink, ByteSource, crc32 } from './bytes.js';
import type { NumberList } from './columns.js';
import { writeRetained } from './death-codec.js';
import type { Digest } from './digest.js';
import { writeEnvelope } from './envelope.js';
import type { Inventory } from './inventory.js';
import { type Plain, writePlain } from './plain-codec.js';
import { recordHead, recordTypes, typeAt } from './segment-header.js';
import type { Segment } from './segment.js';
import { type Entry, Flag, type MessageTable } from './tables.js';

/** Bodies from this many bytes on are written without being copied. */
const tooLargeToCopy = 16_384;
/** Bytes of the buffer that is kept between two batches. */
const usualLength = 4 * 1024 * 1024;

/** The tables with the state of entries. */
type EntryTables = Pick<Inventory, 'entries' | 'messages' | 'orders' | 'deaths'>;

/** Flags in the record of an entry: which fields follow. */
export const entryBits = {
  unacked: 1,
  deadline: 2,
  returns: 4,
  failures: 8,
  order: 16,
  due: 32,
  death: 64,
  headers: 128,
} as const;

/** Encodes the records of one batch. */
export class Batch {
  #sink = new ByteSink(65_536);
  readonly #envelope = new ByteSink(512);
  /** The message whose envelope was encoded last: the next message often has the same envelope. */
  #lastEncoded: Message | undefined;
  /** Bodies that are not copied, and the position in the bytes where each belongs. */
  #bodies: { readonly at: number; readonly body: Uint8Array }[] = [];
  #outside = 0;
  /** The chunks that were encoded in earlier turns. */
  #before: Uint8Array[] = [];
  #start = 0;
  #salt = 0;
  #digest: Digest | undefined;
  /** It has a checkpoint. */
  hasCheckpoint = false;

  /** Begins a batch at the end of a segment. */
  begin(segment: Segment): void {
    this.#start = segment.end;
    this.#salt = segment.salt;
    this.#digest = segment.digest;
    this.#bodies = [];
    this.#outside = 0;
    this.#before = [];
    this.hasCheckpoint = false;
    if (this.#sink.bytes.length > usualLength) this.#sink = new ByteSink(65_536);
    this.#sink.at = 0;
  }

  get length(): number {
    return this.#sink.at + this.#outside;
  }

  /**
   * Called when a turn of the event loop ends before the batch is complete. A large batch grows by pieces, so that it is not copied
   * when it grows.
   */
  pause(): void {
    const { at } = this.#sink;
    if (at < usualLength / 4) return;
    this.#addTo(this.#before);
    this.#bodies = [];
    this.#outside += at;
    this.#sink = new ByteSink(usualLength / 2);
  }

  /** The bytes to write; valid until the next batch begins. */
  chunks(): Uint8Array[] {
    const chunks = [...this.#before];
    this.#addTo(chunks);
    return chunks;
  }

  /** A copy of bytes of this batch. @param at where they begin in the segment @returns undefined when they are not in it */
  bytesAt(at: number, length: number): Buffer | undefined {
    const from = at - this.#start;
    if (from < 0 || from + length > this.length) return undefined;
    const bytes = Buffer.allocUnsafe(length);
    let start = 0;
    for (const chunk of this.chunks()) {
      const end = start + chunk.length;
      const first = Math.max(start, from);
      const last = Math.min(end, from + length);
      if (first < last) bytes.set(chunk.subarray(first - start, last - start), first - from);
      start = end;
    }
    return bytes;
  }

  #addTo(chunks: Uint8Array[]): void {
    const { bytes, at } = this.#sink;
    let from = 0;
    for (const { at: end, body } of this.#bodies) {
      chunks.push(bytes.subarray(from, end), body);
      from = end;
    }
    chunks.push(bytes.subarray(from, at));
  }

  /**
   * Writes a message with its body, or, if it shares the body of another message, without a body.
   * @param number its row in the table
   * @param queue the first queue with an entry of it, 0 for none
   * @returns the position of the record in the segment
   */
  message(message: Message, number: number, queue: number, { serial, root: roots }: MessageTable): number {
    const root = roots.get(number);
    const start = this.#open(root === 0 ? recordTypes.message : recordTypes.copy);
    const sink = this.#sink;
    sink.varint(number);
    sink.varint(serial.get(number));
    sink.varint(queue);
    if (root === 0) {
      this.#putEnvelope(message);
      return this.#closeWith(start, message.body);
    }
    sink.varint(root);
    sink.varint(serial.get(root));
    sink.varint(message.size);
    this.#putEnvelope(message);
    return this.#close(start);
  }

  /** Writes the whole state of an entry. @param number its row in the table of entries */
  entry(number: number, { entries, messages, orders, deaths }: EntryTables): void {
    const entry = entries.entries.get(number) as Entry;
    const message = entries.message.get(number);
    const isUnacked = (entries.flags.get(number) & Flag.Unacked) !== 0;
    const order = orders.size === 0 ? 0 : (orders.get(number) ?? 0);
    const death = deaths.size === 0 ? undefined : deaths.get(number);
    const { deadline, returns, failures } = entry;
    const start = this.#open(recordTypes.entry);
    const sink = this.#sink;
    sink.varint(number);
    sink.varint(message);
    sink.varint(messages.serial.get(message));
    sink.varint(entries.queue.get(number));
    sink.varint(entry.position);
    const due = entry.due > 0 ? entry.due : 0;
    sink.octet(
      (isUnacked ? entryBits.unacked : 0) |
        (deadline === 0 ? 0 : entryBits.deadline) |
        (returns === 0 ? 0 : entryBits.returns) |
        (failures === returns ? 0 : entryBits.failures) |
        (order === 0 ? 0 : entryBits.order) |
        (due === 0 ? 0 : entryBits.due) |
        (death === undefined ? 0 : entryBits.death) |
        (death?.headers === undefined ? 0 : entryBits.headers),
    );
    if (deadline !== 0) sink.double(deadline);
    if (returns !== 0) sink.varint(returns);
    if (failures !== returns) sink.varint(failures);
    if (order !== 0) sink.varint(order);
    if (due !== 0) sink.double(due);
    if (death !== undefined) writeRetained(sink, death);
    this.#close(start);
  }

  /**
   * Takes numbers from the front of a list.
   * @param limit the most numbers to take
   * @param fits whether to write a number; default: all of them
   */
  numbers(
    type: typeof recordTypes.delivered | typeof recordTypes.settled,
    numbers: NumberList,
    limit: number,
    fits?: (number: number) => boolean,
  ): void {
    const taken = Math.min(numbers.length, limit);
    let count = taken;
    if (fits !== undefined) for (let index = 0; index < taken; index++) if (!fits(numbers.at(index))) count--;
    if (count > 0) {
      const start = this.#open(type);
      this.#sink.varint(count);
      for (let index = 0; index < taken; index++) {
        const number = numbers.at(index);
        if (fits === undefined || fits(number)) this.#sink.varint(number);
      }
      this.#close(start);
    }
    numbers.drop(taken);
  }

  /**
   * @param queue the number in the store of the queue that the change declares; 0 if it declares none
   * @param suspectBelow see {@link Declared.suspectBelow}; programs that do not know it read the record without it
   */
  topology(queue: number, change: Plain, suspectBelow = 0): void {
    const start = this.#open(recordTypes.topology);
    this.#sink.varint(queue);
    writePlain(this.#sink, change);
    if (suspectBelow > 0) this.#sink.varint(suspectBelow);
    this.#close(start);
  }

  checkpoint(): void {
    this.hasCheckpoint = true;
    this.#close(this.#open(recordTypes.checkpoint));
  }

  /** Names the oldest segment that is needed once this batch is durable. Programs that do not know it read that nothing is settled. */
  oldest(segment: number): void {
    const start = this.#open(recordTypes.settled);
    this.#sink.varint(0);
    this.#sink.varint(segment);
    this.#close(start);
  }

  /** The record of a message from another segment. @param rest the bytes behind its queue */
  rewrite(type: number, number: number, serial: number, rest: Buffer): number {
    const start = this.#open(type);
    this.#sink.varint(number);
    this.#sink.varint(serial);
    this.#sink.varint(0);
    const body = type === recordTypes.copy ? rest.length : bodyIn(rest);
    this.#sink.raw(rest.subarray(0, body));
    return this.#closeWith(start, rest.subarray(body));
  }

  /** A record from another segment, as it is. */
  repeat(record: Buffer): void {
    const start = this.#open(record[typeAt] as number);
    this.#sink.raw(record.subarray(recordHead));
    this.#close(start);
  }

  /** The last record. @param time milliseconds since 1970 */
  commit(time: number): void {
    const start = this.#open(recordTypes.commit);
    const lengthOfThis = recordHead + 16;
    this.#sink.double(this.length - recordHead + lengthOfThis);
    this.#sink.double(time);
    this.#close(start);
  }

  #putEnvelope(message: Message): void {
    const known = this.#lastEncoded;
    const isKnown =
      known !== undefined &&
      known.own === message.own &&
      known.routingKey === message.routingKey &&
      known.exchange === message.exchange &&
      known.notes === message.notes;
    const envelope = this.#envelope;
    if (!isKnown) {
      envelope.at = 0;
      writeEnvelope(envelope, message);
      this.#lastEncoded = message;
    }
    const sink = this.#sink;
    sink.varint(envelope.at);
    sink.from(envelope);
  }

  #open(type: number): number {
    const sink = this.#sink;
    const start = sink.at;
    sink.reserve(recordHead);
    sink.at += recordHead;
    sink.bytes[start + typeAt] = type;
    return start;
  }

  #close(start: number): number {
    const { bytes, at } = this.#sink;
    bytes.writeUInt32BE(at - start - typeAt, start);
    bytes.writeUInt32BE(crc32(bytes, start + typeAt, at, this.#salt), start + 4);
    const position = this.#start + start + this.#outside;
    this.#digest?.add(bytes, start, position, at - start);
    return position;
  }

  #closeWith(start: number, body: Uint8Array): number {
    const sink = this.#sink;
    const { bytes, at } = sink;
    const position = this.#start + start + this.#outside;
    const crc = crc32(body, 0, body.length, crc32(bytes, start + typeAt, at, this.#salt));
    bytes.writeUInt32BE(at - start - typeAt + body.length, start);
    bytes.writeUInt32BE(crc, start + 4);
    this.#digest?.add(bytes, start, position, at - start + body.length);
    if (body.length < tooLargeToCopy) {
      sink.raw(body);
    } else {
      this.#bodies.push({ at, body });
      this.#outside += body.length;
    }
    return position;
  }
}

/** Where the body begins behind the envelope and its length. */
function bodyIn(rest: Buffer): number {
  const source = new ByteSource(rest);
  return source.varint() + source.at;
}
