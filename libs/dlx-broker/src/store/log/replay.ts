import type { TopologyChange } from '../../engine/broker/index.js';
import { noBytes } from '../../engine/message/index.js';
import { entryBits } from './batch.js';
import { ByteSource } from './bytes.js';
import { Doubles, Integers, NumberList, References, Words } from './columns.js';
import { readRetained } from './death-codec.js';
import type { Declared } from './declared.js';
import { type Envelope, EnvelopeReader } from './envelope.js';
import type { Inventory, StoredDeath } from './inventory.js';
import { readPlain } from './plain-codec.js';
import { recordHead, recordTypes, typeAt } from './segment-header.js';
import { Flag } from './tables.js';

/** The envelope of each message. Envelopes equal to the first one, often all, take no memory. */
class Envelopes {
  #first: Envelope | undefined;
  readonly #others = new References<Envelope>();

  get(number: number): Envelope {
    return this.#others.get(number) ?? (this.#first as Envelope);
  }

  set(number: number, envelope: Envelope): void {
    this.#first ??= envelope;
    this.#others.set(number, envelope === this.#first ? undefined : envelope);
  }
}

/** The size of each body. Sizes equal to the first one take no memory. */
class Sizes {
  #first = -1;
  readonly #others = new Words();

  get(number: number): number {
    return (this.#others.get(number) + this.#first) >>> 0;
  }

  set(number: number, size: number): void {
    if (this.#first < 0) this.#first = size;
    this.#others.set(number, (size - this.#first) >>> 0);
  }
}

/** Replays the records of the log: the last record of each message and each entry counts. */
export class Replay {
  /** Of each message, by number. */
  readonly envelopes = new Envelopes();
  /** Bytes of its body. */
  readonly sizes = new Sizes();
  /** The serial of the message whose body it shares. */
  readonly rootSerials = new Words();
  /** Of each entry, the serial of its message. */
  readonly serials = new Words();
  readonly positions = new Integers();
  readonly deadlines = new Doubles();
  /** Milliseconds that were left until the deadline when the entry was written. */
  readonly remaining = new Doubles();
  /** After a crash nearly every entry has one. */
  readonly returns = new Words();
  /** Whether any entry had returns. */
  hasReturns = false;
  /** Values that few entries have. */
  readonly failures = new Map<number, number>();
  readonly due = new Map<number, number>();
  /** Numbers of deleted queues. */
  readonly removed = new Set<number>();
  /** The highest number of a queue with an entry in the log. */
  highestQueue = 0;
  /** The highest number of a queue with an entry before the last whole checkpoint: those without a declaration are deleted. */
  #checked = 0;
  /** The queue of each lost message. */
  readonly losses: number[] = [];
  /** A part of the batch being replayed is damaged. */
  isDamaged = false;
  /** The oldest segment that the log needs, as the last batch that says so names it; 0 when unknown. */
  oldest = 0;
  readonly #source = new ByteSource(noBytes);
  readonly #envelopes = new EnvelopeReader();
  /** Entries of the batch being replayed that have a deadline: the time of the batch comes with its commit. */
  #limited: number[] = [];
  /** New messages of the batch, and the first queue of each. */
  readonly #fresh = new NumberList();
  readonly #firstQueues = new NumberList();
  /** Entries of the batch. */
  readonly #placed = new NumberList();

  constructor(
    readonly inventory: Inventory,
    readonly declared: Declared,
  ) {}

  /** @param at where the record begins @param segment its number */
  record(bytes: Buffer, at: number, segment: number): void {
    const source = this.#source;
    source.bytes = bytes;
    source.at = at + recordHead;
    const end = at + typeAt + bytes.readUInt32BE(at);
    switch (bytes[at + typeAt]) {
      case recordTypes.message:
      case recordTypes.copy:
        return this.#message(source, at, end, segment, bytes[at + typeAt] === recordTypes.copy);
      case recordTypes.entry:
        return this.entry(
          segment,
          source.varint(),
          source.varint(),
          source.varint(),
          source.varint(),
          source.varint(),
          source,
        );
      default:
        return this.rest(bytes[at + typeAt] as number, source, end);
    }
  }

  /**
   * Whether a queue is deleted, and not one whose declaration is lost. A long checkpoint is not repeated in every segment: the segments with
   * the declaration and the deletion of a queue may be gone before the ones with its entries.
   */
  isDeleted(queue: number): boolean {
    return this.removed.has(queue) || (queue <= this.#checked && this.declared.placeOf(queue) === undefined);
  }

  /** Records are missing or damaged before the next one. */
  damaged(): void {
    this.isDamaged = true;
    this.oldest = 0;
  }

  /** A record that is neither a message nor an entry. @param source at its content @param end where the content ends */
  rest(type: number, source: ByteSource, end: number): void {
    switch (type) {
      case recordTypes.delivered:
        return this.#numbers(source, Flag.Unacked, 0);
      case recordTypes.settled:
        this.#numbers(source, 0, Flag.Live);
        if (source.at < end) this.oldest = source.varint();
        return;
      case recordTypes.topology:
        return this.#topology(source, end);
      case recordTypes.checkpoint:
        this.oldest = 0; // a program that does not name it may have written the checkpoint
        return this.declared.begin();
      case recordTypes.commit:
        return this.#commit(source);
    }
  }

  #message(source: ByteSource, at: number, end: number, segment: number, isCopy: boolean): void {
    const number = source.varint();
    const serial = source.varint();
    const queue = source.varint();
    const root = isCopy ? source.varint() : 0;
    const rootSerial = isCopy ? source.varint() : 0;
    const size = isCopy ? source.varint() : 0;
    const envelope = this.envelope(source);
    this.message(segment, number, serial, queue, at, end - at);
    this.content(number, root, rootSerial, envelope, isCopy ? size : end - source.at);
  }

  /** Reads an envelope with its length before it. */
  envelope(source: ByteSource): Envelope {
    return this.#envelopes.read(source);
  }

  /** @param at where its record begins @param length of its record */
  message(segment: number, number: number, serial: number, queue: number, at: number, length: number): void {
    const { messages } = this.inventory;
    messages.reach(number);
    messages.serial.set(number, serial);
    messages.segment.set(number, segment);
    messages.offset.set(number, at);
    messages.length.set(number, length);
    if (queue === 0) return;
    this.#fresh.push(number);
    this.#firstQueues.push(queue);
  }

  /** The content of a message. @param root the message whose body a copy shares, else 0 @param size of the body */
  content(number: number, root: number, rootSerial: number, envelope: Envelope, size: number): void {
    this.inventory.messages.root.set(number, root);
    this.rootSerials.set(number, rootSerial);
    this.envelopes.set(number, envelope);
    this.sizes.set(number, size);
  }

  /** @param source at the bits of the record; undefined when none is set */
  entry(
    segment: number,
    number: number,
    message: number,
    serial: number,
    queue: number,
    position: number,
    source: ByteSource | undefined,
  ): void {
    const { entries } = this.inventory;
    entries.reach(number);
    entries.message.set(number, message);
    this.serials.set(number, serial);
    this.#placed.push(number);
    if (queue > this.highestQueue) this.highestQueue = queue;
    entries.queue.set(number, queue);
    entries.segment.set(number, segment);
    this.positions.set(number, position);
    const bits = source?.octet() ?? 0;
    if (bits === 0 || source === undefined) return this.#plainEntry(number);
    const deadline = (bits & entryBits.deadline) === 0 ? 0 : source.double();
    this.deadlines.set(number, deadline);
    this.returned(number, (bits & entryBits.returns) === 0 ? 0 : source.varint());
    note(this.failures, number, (bits & entryBits.failures) === 0 ? undefined : source.varint());
    note(this.inventory.orders, number, (bits & entryBits.order) === 0 ? undefined : source.varint());
    note(this.due, number, (bits & entryBits.due) === 0 ? undefined : source.double());
    note(this.inventory.deaths, number, (bits & entryBits.death) === 0 ? undefined : readDeath(source, bits));
    entries.flags.set(number, Flag.Live | Flag.Stored | ((bits & entryBits.unacked) === 0 ? 0 : Flag.Unacked));
    if (deadline !== 0) this.#limited.push(number);
  }

  #plainEntry(number: number): void {
    this.deadlines.set(number, 0);
    const { orders, deaths } = this.inventory;
    if (this.hasReturns) this.returns.set(number, 0);
    if (this.failures.size > 0) this.failures.delete(number);
    if (orders.size > 0) orders.delete(number);
    if (this.due.size > 0) this.due.delete(number);
    if (deaths.size > 0) deaths.delete(number);
    this.inventory.entries.flags.set(number, Flag.Live | Flag.Stored);
  }

  returned(number: number, returns: number): void {
    if (returns > 0) this.hasReturns = true;
    this.returns.set(number, returns);
  }

  #numbers(source: ByteSource, set: number, clear: number): void {
    const { flags, end } = this.inventory.entries;
    for (let left = source.varint(); left > 0; left--) {
      const number = source.varint();
      if (number < end) flags.set(number, (flags.get(number) | set) & ~clear);
    }
  }

  #topology(source: ByteSource, end: number): void {
    const number = source.varint();
    const change = readPlain(source) as unknown as TopologyChange;
    for (const gone of this.declared.change(change, number || undefined)) this.removed.add(gone);
    if (number !== 0) this.removed.delete(number);
    if (source.at < end) this.declared.suspect(number, source.varint());
  }

  #commit(source: ByteSource): void {
    source.double();
    const time = source.double();
    for (const number of this.#limited) {
      this.remaining.set(number, Math.max(0, this.deadlines.get(number) - time));
    }
    this.#limited = [];
    if (this.declared.isBegun && !this.isDamaged) this.#checked = this.highestQueue;
    for (const gone of this.declared.complete(this.isDamaged)) this.removed.add(gone);
    if (this.isDamaged) this.#countLosses();
    this.#fresh.clear();
    this.#firstQueues.clear();
    this.#placed.clear();
    this.isDamaged = false;
  }

  /** Counts messages of this batch without entries. */
  #countLosses(): void {
    const { messages, entries } = this.inventory;
    const mentioned = new Map<number, number>();
    for (let index = 0; index < this.#placed.length; index++) {
      const entry = this.#placed.at(index);
      mentioned.set(entries.message.get(entry), this.serials.get(entry));
    }
    for (let index = 0; index < this.#fresh.length; index++) {
      const number = this.#fresh.at(index);
      if (mentioned.get(number) !== messages.serial.get(number)) this.losses.push(this.#firstQueues.at(index));
    }
  }
}

function readDeath(source: ByteSource, bits: number): StoredDeath {
  const before = source.at;
  const death = readRetained(source, (bits & entryBits.headers) !== 0);
  return { ...death, bytes: source.at - before };
}

function note<Fact>(facts: Map<number, Fact>, number: number, value: Fact | undefined): void {
  if (value !== undefined) facts.set(number, value);
  else if (facts.size > 0) facts.delete(number);
}
