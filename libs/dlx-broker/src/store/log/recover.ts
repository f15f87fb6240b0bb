import { noBytes } from '../../engine/message/index.js';
import { Declared } from './declared.js';
import { DigestReader } from './digest-reader.js';
import { Digest } from './digest.js';
import { cannotOpen, foreignFile } from './faults.js';
import { type FoundHint, headOf, hintName, hintNumber, readHint } from './hints.js';
import { Inventory } from './inventory.js';
import { clearEnd, isCutShort, lastNumberOf, type Rest, restOf, takeStrayFiles } from './last-segment.js';
import { type DamagedPlace, type Disk, type DiskFile, nextTurnUnless, type Runtime } from './options.js';
import { Replay } from './replay.js';
import { type Gap, isBlank, lastCommit, scan, type Scanned, startOfBatch } from './scan.js';
import {
  draft,
  readHeader,
  recordTypes,
  segmentHead,
  type SegmentHeader,
  segmentName,
  segmentNumber,
  typeAt,
} from './segment-header.js';
import { Segment, Segments } from './segment.js';
import { readWhole } from './write-all.js';

/** The content of a log, and the repairs to make before anything is written to it. */
export interface Recovered {
  readonly inventory: Inventory;
  readonly declared: Declared;
  readonly segments: Segments;
  readonly replay: Replay;
  readonly places: readonly DamagedPlace[];
  /** The segment with the last checkpoint, 0 for none. */
  readonly checkpoint: number;
  /** The number of segments that were replayed from their hints. */
  readonly hinted: number;
  /** To be made only when the whole log could be read. */
  readonly repairs: readonly (() => Promise<void>)[];
  /** Closes all files. */
  closeFiles(): Promise<void>;
}

/** How a log is read. */
interface RecoveryOptions {
  /** Bytes of bodies to keep in memory. */
  readonly memory: number;
  /** Bytes from which on the digest of a segment is given up. */
  readonly maxDigestBytes: number;
  readonly hints: 'use' | 'check';
  /** Gives up the recovery. */
  readonly signal: AbortSignal | undefined;
}

/** Reads all segments or their hints, oldest first. @throws StoreError, or the reason of the signal; then nothing has changed */
export async function recover(disk: Disk, options: RecoveryOptions, runtime: Runtime): Promise<Recovered> {
  const recovery = new Recovery(disk, options, runtime);
  try {
    await recovery.run();
    return recovery;
  } catch (error) {
    await recovery.closeFiles();
    options.signal?.throwIfAborted();
    throw cannotOpen(error);
  }
}

const isDraft = (name: string): boolean => {
  if (!name.endsWith(draft)) return false;
  const base = name.slice(0, -draft.length);
  return segmentNumber(base) !== undefined || hintNumber(base) !== undefined;
};

/** Records of a hint that are replayed in one turn of the event loop: a few milliseconds. */
const recordsInTurn = 32_768;

interface Found {
  readonly number: number;
  readonly file: DiskFile;
  /** The bytes of the segment; with a digest only the first ones. */
  readonly bytes: Buffer;
  readonly isLast: boolean;
  /** Bytes of the file. */
  readonly size: number;
  readonly hint: FoundHint | undefined;
  /** From its hint, if the hint is used. */
  readonly digest: Buffer | undefined;
}

class Recovery implements Recovered {
  readonly segments = new Segments();
  readonly inventory: Inventory;
  readonly declared = new Declared();
  readonly replay: Replay;
  readonly places: DamagedPlace[] = [];
  readonly repairs: (() => Promise<void>)[] = [];
  checkpoint = 0;
  /** Segments that were replayed from their hints. */
  hinted = 0;
  /** Files that are open, or being opened. */
  readonly #files: Promise<DiskFile>[] = [];
  readonly #hints = new Set<number>();
  #buffers: readonly [Buffer, Buffer] = [noBytes, noBytes];
  #hasRecords = false;

  constructor(
    readonly disk: Disk,
    readonly options: RecoveryOptions,
    readonly runtime: Runtime,
  ) {
    this.inventory = new Inventory(this.segments, options.memory);
    this.replay = new Replay(this.inventory, this.declared);
  }

  async run(): Promise<void> {
    const names = await this.disk.list();
    const numbers = names.map(segmentNumber).filter((number) => number !== undefined);
    for (const name of names) if (isDraft(name)) this.repairs.push(() => this.disk.unlink(name));
    numbers.sort((one, other) => one - other);
    const stray = await takeStrayFiles(this.disk, numbers);
    const last = numbers.at(-1) ?? 0;
    const lastOfLog = await lastNumberOf(this.disk, names, last);
    this.#findHints(names, numbers);
    const read = (index: number): Promise<Found> | undefined => {
      const number = numbers[index];
      return number === undefined ? undefined : this.#read(number, index === numbers.length - 1);
    };
    let ahead = read(0);
    for (const [index, number] of numbers.entries()) {
      const found = await (ahead as Promise<Found>);
      // The next segment is read while this one is replayed.
      ahead = read(index + 1);
      ahead?.catch(() => undefined);
      if (index > 0) this.#missing((numbers[index - 1] as number) + 1, number);
      if (found.digest === undefined) this.#segment(found);
      else await this.#replayDigest(found, found.digest);
      // Other work of the event loop gets its turn.
      await nextTurnUnless(this.options.signal, this.runtime);
    }
    this.#buffers = [noBytes, noBytes];
    for (const number of stray) await this.#stray(segmentName(number));
    if (lastOfLog > last) {
      this.#missing(last === 0 ? lastOfLog : last + 1, lastOfLog + 1);
      // What names them must not come back: they would be reported again.
      this.repairs.push(() => this.disk.syncDir());
    }
    for (const gone of this.declared.complete(true)) this.replay.removed.add(gone);
    this.declared.skip(this.replay.highestQueue);
    const first = numbers[0];
    if (first !== undefined && this.replay.oldest > 0) this.#missing(this.replay.oldest, first);
    // Every log begins with a checkpoint.
    if (this.checkpoint === 0 && this.#hasRecords && first !== undefined) {
      this.places.push({ file: segmentName(first), from: 0, to: 0 });
    }
  }

  /** Reports the segments from a number to the one before another number, if there are any. */
  #missing(from: number, to: number): void {
    for (let number = from; number < to; number++) {
      this.places.push({ file: segmentName(number), from: 0, to: 0, isMissing: true });
      this.replay.oldest = 0; // a missing batch may have named another one
    }
  }

  /** An empty file with the name of a segment that the log never had. */
  async #stray(name: string): Promise<void> {
    const opening = this.disk.open(name, 'write');
    this.#files.push(opening);
    this.#headless(name, await opening, noBytes);
  }

  async closeFiles(): Promise<void> {
    await Promise.allSettled(this.#files.map(async (file) => (await file).close()));
  }

  /** The last segment grows, so a hint of it is not used. Neither is one whose segment is gone. */
  #findHints(names: readonly string[], numbers: readonly number[]): void {
    const full = new Set(numbers.slice(0, -1));
    for (const name of names) {
      const number = hintNumber(name);
      if (number === undefined) continue;
      if (full.has(number)) this.#hints.add(number);
      else this.#dropHint(name);
    }
  }

  #dropHint(name: string): void {
    this.repairs.push(() => this.disk.unlink(name).catch(() => undefined));
  }

  async #read(number: number, isLast: boolean): Promise<Found> {
    const opening = this.disk.open(segmentName(number), 'write');
    this.#files.push(opening);
    const file = await opening;
    const size = await file.size();
    const hint = this.#hints.has(number) ? await readHint(this.disk, number) : undefined;
    const content = hint?.content;
    if (content?.number === number && this.options.hints === 'use') {
      const bytes = await headOf(file, size, content);
      if (bytes !== undefined) return { number, file, bytes, isLast, size, hint, digest: content.digest };
    }
    return { number, file, bytes: await readWhole(file, this.#buffer(size)), isLast, size, hint, digest: undefined };
  }

  /** Two buffers in turn: one is filled while the other is replayed. */
  #buffer(size: number): Buffer {
    const [next, other] = this.#buffers;
    const buffer = next.length < size ? Buffer.allocUnsafeSlow(size) : next;
    this.#buffers = [other, buffer];
    return buffer.subarray(0, size);
  }

  async #replayDigest({ number, file, bytes, size }: Found, digest: Buffer): Promise<void> {
    const segment = new Segment(readHeader(bytes, segmentName(number)) as SegmentHeader, file);
    this.segments.add(segment);
    segment.end = segment.allocated = size;
    segment.hasHint = true;
    this.hinted++;
    const reader = new DigestReader(digest, this.replay, number);
    while (reader.some(recordsInTurn)) await nextTurnUnless(this.options.signal, this.runtime);
    if (reader.hasCheckpoint) this.checkpoint = number;
    this.#hasRecords = true;
  }

  #segment({ number, file, bytes, isLast, hint }: Found): void {
    const name = segmentName(number);
    const header = readHeader(bytes, name);
    if (header === undefined) {
      if (hint !== undefined) this.#dropHint(hint.name);
      // The segment before it becomes the last one, and grows.
      if (isLast) this.#dropHint(hintName(number - 1));
      return this.#headless(name, file, bytes);
    }
    if (header.number !== number) throw foreignFile(name);
    const segment = new Segment(header, file);
    this.segments.add(segment);
    const scanned = scan(bytes, header.salt);
    const end = isLast ? endOfWhole(bytes, scanned) : scanned.end;
    const digest = isLast || hint !== undefined ? new Digest(this.options.maxDigestBytes) : undefined;
    this.#replay(bytes, scanned, end, number, digest);
    segment.end = end;
    segment.allocated = bytes.length;
    const gaps: Gap[] = scanned.gaps.filter(({ from }) => from < end);
    const rest = { from: end, to: bytes.length };
    const isDamaged = isLast ? isCutShort(bytes, scanned, end) : !isBlank(bytes, end);
    if (isDamaged) {
      gaps.push(rest);
      this.replay.oldest = 0;
    }
    for (const gap of gaps) this.places.push({ file: name, ...gap });
    for (const { from, to } of scanned.gaps) segment.damaged += Math.max(0, Math.min(to, end) - from);
    if (gaps.length > 0) this.repairs.push(() => this.#keepCopy(name, file));
    if (isLast) this.#clear(segment, restOf(bytes, end), isBlank(bytes, end));
    if (isLast && gaps.length === 0) segment.digest = digest;
    if (hint === undefined) return;
    this.#checkHint(hint, gaps.length === 0 ? digest : undefined);
    segment.hasHint = hint.content !== undefined;
  }

  /**
   * A hint that was not used. One that is damaged is reported; nothing is lost by that.
   * @param digest of its segment; undefined when the segment is damaged
   */
  #checkHint({ name, length, content }: FoundHint, digest: Digest | undefined): void {
    const isRight = digest?.isWhole === true && content?.digest.equals(digest.bytes) === true;
    const isChecked = this.options.hints === 'check' && digest?.isWhole === true;
    if (content === undefined || (isChecked && !isRight)) this.places.push({ file: name, from: 0, to: length });
    if (!isRight) this.#dropHint(name);
  }

  #replay(bytes: Buffer, { records, gaps }: Scanned, end: number, number: number, digest: Digest | undefined): void {
    let gap = 0;
    for (const at of records) {
      if (at >= end) return;
      while (gap < gaps.length && (gaps[gap] as Gap).from < at) {
        gap++;
        this.replay.damaged();
      }
      if (bytes[at + typeAt] === recordTypes.checkpoint) this.checkpoint = number;
      this.#hasRecords = true;
      digest?.add(bytes, at, at, typeAt + bytes.readUInt32BE(at));
      this.replay.record(bytes, at, number);
    }
  }

  /** Without the salt in its header no record of a segment can be recognised. */
  #headless(name: string, file: DiskFile, bytes: Buffer): void {
    const isEmpty = bytes.length === 0;
    this.places.push({ file: name, from: 0, to: bytes.length, ...(isEmpty && { isEmpty }) });
    this.replay.oldest = 0;
    this.repairs.push(() => this.#keepCopy(name, file));
    this.repairs.push(async () => {
      await file.close();
      await this.disk.unlink(name);
      await this.disk.syncDir();
    });
  }

  /** Removes what is behind the last batch, and makes the file as long as it has to be. */
  #clear(segment: Segment, rest: Rest, isBlankBehind: boolean): void {
    if (isBlankBehind && rest.size >= rest.prepared) return;
    this.repairs.push(async () => {
      segment.allocated = await clearEnd(segment.file, rest);
    });
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
