import type { Disk, DiskFile } from './disk.js';
import { Declared } from './declared.js';
import { cannotOpen, foreignFile, shortRead } from './faults.js';
import { Inventory } from './inventory.js';
import type { DamagedPlace } from './options.js';
import { recordTypes, typeAt } from './record.js';
import { Replay } from './replay.js';
import { type Gap, isBlank, lastCommit, scan, type Scanned, startOfBatch } from './scan.js';
import { draft, readHeader, segmentHead, segmentName, segmentNumber } from './segment-header.js';
import { Segment, Segments } from './segment.js';
import { nextTurn, type Surroundings } from './surroundings.js';

/** The content of a log, and the repairs to make before anything is written to it. */
export interface Recovered {
  readonly inventory: Inventory;
  readonly declared: Declared;
  readonly segments: Segments;
  readonly replay: Replay;
  readonly places: readonly DamagedPlace[];
  /** The segment with the last checkpoint, 0 for none. */
  readonly checkpoint: number;
  /** To be made only when the whole log could be read. */
  readonly repairs: readonly (() => Promise<void>)[];
  /** Closes all files. */
  closeFiles(): Promise<void>;
}

/** Reads all segments, oldest first. @param memory bytes of bodies to keep in memory @throws StoreError; then nothing has changed */
export async function recover(disk: Disk, memory: number, surroundings: Surroundings): Promise<Recovered> {
  const recovery = new Recovery(disk, memory, surroundings);
  try {
    await recovery.run();
    return recovery;
  } catch (error) {
    await recovery.closeFiles();
    throw cannotOpen(error);
  }
}

const isDraft = (name: string): boolean =>
  name.endsWith(draft) && segmentNumber(name.slice(0, -draft.length)) !== undefined;

/** @throws when fewer bytes come than the file has: an unread part must not be taken for a missing one */
async function readWhole(file: DiskFile, into: Buffer): Promise<Buffer> {
  let at = 0;
  while (at < into.length) {
    const read = await file.read(into.subarray(at), at);
    if (read === 0) throw shortRead(into.length, at, await file.size());
    at += read;
  }
  return into;
}

const nothing = Buffer.alloc(0);

interface Found {
  readonly file: DiskFile;
  readonly bytes: Buffer;
}

class Recovery implements Recovered {
  readonly segments = new Segments();
  readonly inventory: Inventory;
  readonly declared = new Declared();
  readonly replay: Replay;
  readonly places: DamagedPlace[] = [];
  readonly repairs: (() => Promise<void>)[] = [];
  checkpoint = 0;
  readonly #files: DiskFile[] = [];
  #buffers: readonly [Buffer, Buffer] = [nothing, nothing];
  #hasRecords = false;

  constructor(
    readonly disk: Disk,
    memory: number,
    readonly surroundings: Surroundings,
  ) {
    this.inventory = new Inventory(this.segments, memory);
    this.replay = new Replay(this.inventory, this.declared);
  }

  async run(): Promise<void> {
    const names = await this.disk.list();
    const numbers = names.map(segmentNumber).filter((number) => number !== undefined);
    for (const name of names) if (isDraft(name)) this.repairs.push(() => this.disk.unlink(name));
    numbers.sort((one, other) => one - other);
    let ahead = numbers[0] === undefined ? undefined : this.#read(numbers[0]);
    for (const [index, number] of numbers.entries()) {
      const { file, bytes } = await (ahead as Promise<Found>);
      const next = numbers[index + 1];
      // The next segment is read while this one is replayed.
      ahead = next === undefined ? undefined : this.#read(next);
      ahead?.catch(() => undefined);
      for (let missing = number - 1; index > 0 && missing > (numbers[index - 1] as number); missing--) {
        this.places.push({ file: segmentName(missing), from: 0, to: 0 });
      }
      this.#segment(number, file, bytes, next === undefined);
      // Other work of the event loop gets its turn.
      await nextTurn(this.surroundings);
    }
    this.#buffers = [nothing, nothing];
    for (const gone of this.declared.complete(true)) this.replay.removed.add(gone);
    const first = numbers[0];
    // Every log begins with a checkpoint.
    if (this.checkpoint === 0 && this.#hasRecords && first !== undefined) {
      this.places.push({ file: segmentName(first), from: 0, to: 0 });
    }
  }

  async closeFiles(): Promise<void> {
    await Promise.allSettled(this.#files.map((file) => file.close()));
  }

  async #read(number: number): Promise<Found> {
    const file = await this.disk.open(segmentName(number), 'write');
    this.#files.push(file);
    return { file, bytes: await readWhole(file, this.#buffer(await file.size())) };
  }

  /** Two buffers in turn: one is filled while the other is replayed. */
  #buffer(size: number): Buffer {
    const [next, other] = this.#buffers;
    const buffer = next.length < size ? Buffer.allocUnsafeSlow(size) : next;
    this.#buffers = [other, buffer];
    return buffer.subarray(0, size);
  }

  #segment(number: number, file: DiskFile, bytes: Buffer, isLast: boolean): void {
    const name = segmentName(number);
    const header = readHeader(bytes, name);
    if (header === undefined) return this.#headless(name, file, bytes);
    if (header.number !== number) throw foreignFile(name);
    const segment = new Segment(header, file);
    this.segments.add(segment);
    const scanned = scan(bytes, header.salt);
    const end = isLast ? endOfWhole(bytes, scanned) : scanned.end;
    this.#replay(bytes, scanned, end, number);
    segment.end = end;
    segment.allocated = bytes.length;
    const gaps: Gap[] = scanned.gaps.filter(({ from }) => from < end);
    const rest = { from: end, to: bytes.length };
    if (!isBlank(bytes, end)) {
      if (isLast) this.repairs.push(() => this.#cut(segment));
      else gaps.push(rest);
    }
    for (const gap of gaps) this.places.push({ file: name, ...gap });
    if (gaps.length > 0) this.repairs.push(() => this.#keepCopy(name, file));
  }

  #replay(bytes: Buffer, { records, gaps }: Scanned, end: number, number: number): void {
    let gap = 0;
    for (const at of records) {
      if (at >= end) return;
      while (gap < gaps.length && (gaps[gap] as Gap).from < at) {
        gap++;
        this.replay.isDamaged = true;
      }
      if (bytes[at + typeAt] === recordTypes.checkpoint) this.checkpoint = number;
      this.#hasRecords = true;
      this.replay.record(bytes, at, number);
    }
  }

  /** Without the salt in its header no record of a segment can be recognised. */
  #headless(name: string, file: DiskFile, bytes: Buffer): void {
    this.places.push({ file: name, from: 0, to: bytes.length });
    this.repairs.push(() => this.#keepCopy(name, file));
    this.repairs.push(async () => {
      await file.close();
      await this.disk.unlink(name);
      await this.disk.syncDir();
    });
  }

  async #cut({ file, end }: Segment): Promise<void> {
    await file.truncate(end);
    await file.sync();
    for (const segment of this.segments) if (segment.file === file) segment.allocated = end;
  }

  /** Keeps a copy of the damaged file. Later the segment is deleted like any other. */
  async #keepCopy(name: string, from: DiskFile): Promise<void> {
    const copy = `${name}.bad`;
    if ((await this.disk.list()).includes(copy)) return;
    const bytes = await readWhole(from, Buffer.allocUnsafeSlow(await from.size()));
    const file = await this.disk.open(copy, 'create');
    try {
      for (let at = 0; at < bytes.length;) {
        const written = await file.write([bytes.subarray(at)], at);
        if (written === 0) return; // the disk is full; nothing depends on the copy
        at += written;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    this.places.forEach((place, index) => {
      if (place.file === name) this.places[index] = { ...place, copy };
    });
  }
}

/**
 * Where the last segment ends: behind its last commit. The batch of that commit is discarded if a part of it is missing,
 * because such a batch was never confirmed. The batches before it were durable when it was written.
 */
function endOfWhole(bytes: Buffer, scanned: Scanned): number {
  const { records, gaps } = scanned;
  const last = lastCommit(bytes, scanned);
  if (last < 0) return segmentHead;
  const at = records[last] as number;
  const start = startOfBatch(bytes, at);
  const isWhole = records.includes(start) && !gaps.some(({ from, to }) => to > start && from < at);
  return isWhole ? at + typeAt + bytes.readUInt32BE(at) : Math.max(start, segmentHead);
}
