import { AsyncResource } from 'node:async_hooks';
import { Histogram, type Settled, type TopologyChange } from '../../engine/broker/index.js';
import type { Message } from '../../engine/message/index.js';
import { Batch } from './batch.js';
import { Compaction, type CompactionOptions } from './compaction.js';
import { Digest } from './digest.js';
import { closed, noRoom, type StoreError, writeFailed } from './faults.js';
import { Filling, type FillingParts } from './filling.js';
import { Hints } from './hints.js';
import { NextSegment, zeros } from './next-segment.js';
import { type Disk, type DiskFile, type Durability, nextTurn } from './options.js';
import { formatVersion } from './segment-header.js';
import { Segment, type Segments } from './segment.js';
import type { Space } from './space.js';
import { writeAll } from './write-all.js';

/** A batch of fewer bytes extends its file in advance: a write inside the file costs half. */
const smallBatch = 65_536;
/** The next segment is prepared when the active one has more than this many bytes, or than half of its size. */
const inUse = 1_048_576;

/** The bodies put into the cache that are as much work as one record. */
const bodiesInRecord = 4;

/** The upper bounds of the histogram of syncs, in seconds. */
const syncBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

interface CommitParts extends CompactionOptions, FillingParts {
  readonly disk: Disk;
  readonly segments: Segments;
  readonly space: Space;
  /** The largest digest of a segment, in bytes. */
  readonly maxDigestBytes: number;
  readonly durability: Durability;
  readonly now: () => number;
  readonly failed: (error: StoreError) => void;
}

/** A complete batch. */
interface Encoded {
  /** The messages in it. Their bodies may leave the memory once the batch is durable. */
  readonly written: readonly Message[];
  /** Segments to delete once the batch is durable. */
  readonly dead: readonly Segment[];
}

/** Writes the log batch by batch: while one batch is being written, the next one collects changes. */
export class Commits {
  /** Batches written since the log was opened. */
  count = 0;
  failure: StoreError | undefined;
  /** The seconds that batches took until the disk had them; undefined while that is not measured. */
  syncs: Histogram | undefined;
  readonly #parts: CommitParts;
  readonly #batch = new Batch();
  readonly #compaction: Compaction;
  readonly #filling: Filling;
  readonly #next: NextSegment;
  readonly #hints: Hints;
  /** The last waiter for the batch that collects changes. The waiter speaks for all commits before its own. */
  #nextWaiter: Settled | undefined;
  /** The last waiter for the batch being written. */
  #waiter: Settled | undefined;
  #isWriting = false;
  /** True while a batch is being encoded or written. If it is abandoned, the log lacks records that the inventory counts as written, and no batch may follow. */
  #isTorn = false;
  /** A batch is encoded, and not durable yet. */
  #isInFlight = false;
  #isScheduled = false;
  /** The next batch is written even if it has no records. */
  #isWanted = false;
  #isClosed = false;
  readonly #idle: (() => void)[] = [];
  /** Without it the writer would keep the async context of a publisher, and with that the data of a request. */
  readonly #home = new AsyncResource('DlxJournal');
  /** Files of deleted segments that are still open. */
  readonly #left = new Set<DiskFile>();
  /** Closes the file of a deleted segment when no detached body refers to the segment any more. */
  readonly #held = new FinalizationRegistry<DiskFile>((file) => void this.#closeLeft(file).catch(() => undefined));

  constructor(parts: CommitParts, checkpoint: number) {
    this.#parts = parts;
    this.#compaction = new Compaction(parts.inventory, parts.segments, parts, (segment) => this.removeHint(segment));
    this.#hints = new Hints(
      parts.disk,
      parts.space,
      () => this.failure !== undefined,
      (error) => this.fail(error),
    );
    this.#filling = new Filling(parts, this.#batch, this.#compaction, this.#isOver, checkpoint);
    this.#next = new NextSegment(parts.disk, parts.space, parts.segmentSize, this.#isOver, parts.runtime);
    parts.inventory.bodies.unwritten = (offset, length) => this.#batch.bytesAt(offset, length);
    parts.space.onExhausted = () => this.#wakeIdle();
  }

  /** Whether the log has every change. */
  get isWritten(): boolean {
    return !this.#isTorn && !this.#isWanted && !this.#filling.hasChanges && this.#parts.inventory.isWritten;
  }

  changed(queue: number, change: TopologyChange): void {
    this.#filling.changed(queue, change);
  }

  /** The end of a command. @param onDurable called when everything so far is durable, or with the error */
  commit(onDurable: Settled | undefined): void {
    if (this.failure !== undefined || this.#isClosed) return onDurable?.(this.failure ?? closed());
    if (this.#hasWork) {
      if (this.#parts.durability === 'none') onDurable?.();
      else if (onDurable !== undefined) this.#nextWaiter = onDurable;
      this.#schedule();
    } else if (onDurable !== undefined) {
      if (this.#isInFlight && this.#parts.durability !== 'none') this.#waiter = onDurable;
      else onDurable();
    }
  }

  /** Entries were dropped without a record: the next batch deletes the segments that are no longer needed. */
  freeSegments(): void {
    if (this.failure !== undefined || this.#isClosed) return;
    this.#isWanted = true;
    this.#schedule();
  }

  /** The next commit writes a batch even if nothing has changed: the first batch has a checkpoint. */
  writeCheckpoint(): void {
    this.#isWanted = true;
  }

  measure(): void {
    this.syncs ??= new Histogram(syncBounds);
  }

  /** The segment is damaged: its hint is deleted, so that the next start reads the segment itself and reports what is lost. */
  removeHint(segment: Segment): void {
    void this.#hints.remove(segment);
  }

  /** The disk is nearly full: deletes the segment that was prepared. */
  makeRoom(): void {
    this.#next.discard().catch(() => undefined);
  }

  /** Resolves when everything is written. @throws StoreError */
  flush(): Promise<void> {
    return this.#flushUnless(() => false);
  }

  async #flushUnless(isOver: () => boolean): Promise<void> {
    while (this.failure === undefined && !isOver() && (this.#hasWork || this.#isWriting)) {
      this.#schedule();
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
    if (this.failure !== undefined) throw this.failure;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    const { segments, space } = this.#parts;
    try {
      // A full disk may stay full: the batch that waits for room is abandoned, and its publishers get an error.
      await this.#flushUnless(() => space.isExhausted);
      this.#isClosed = true;
      space.close();
      while (this.#isWriting) await new Promise<void>((resolve) => this.#idle.push(resolve));
      // An empty last batch proves that the batch before it is durable.
      if (this.failure === undefined && !this.#isTorn && !space.isLow && this.count > 0) await this.#step(true);
    } finally {
      this.#isClosed = true;
      space.close();
      this.#failWaiters(this.failure ?? (space.isExhausted ? noRoom() : closed()));
      await this.#hints.close();
      const files = [...[...segments].map(({ file }) => file), ...this.#left];
      await Promise.allSettled([this.#next.close(), ...files.map((file) => file.close())]);
    }
  }

  readonly #isOver = (): boolean => this.#isClosed || this.failure !== undefined;

  get #hasWork(): boolean {
    if (this.#filling.isOn || this.#filling.hasChanges) return true;
    return !this.#parts.inventory.isWritten || this.#compaction.isReady || this.#isWanted;
  }

  /** All changes of this turn of the event loop go into one batch. */
  #schedule(): void {
    if (this.#isScheduled || this.#isWriting) return;
    this.#isScheduled = true;
    this.#home.runInAsyncScope(this.#parts.runtime.later, undefined, this.#begin);
  }

  readonly #begin = (): void => {
    this.#isScheduled = false;
    void this.#run();
  };

  async #run(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    try {
      while (this.#hasWork && this.failure === undefined && !this.#isClosed) await this.#step(false);
    } catch (error) {
      this.fail(error);
    } finally {
      this.#isWriting = false;
      this.#wakeIdle();
    }
  }

  /** The disk failed: from now on no commit succeeds. */
  fail(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = writeFailed(error);
    this.#parts.failed(this.failure);
    this.#failWaiters(this.failure);
    this.#wakeIdle();
  }

  #wakeIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Calls the waiters with the reason. How much of the batch being written reached the disk is unknown. */
  #failWaiters(reason: StoreError): void {
    const waiter = this.#nextWaiter ?? this.#waiter;
    this.#nextWaiter = this.#waiter = undefined;
    if (waiter !== undefined) call(waiter, reason);
  }

  /** Writes one batch, and calls its waiter. */
  async #step(isLast: boolean): Promise<void> {
    const { durability, space } = this.#parts;
    const segment = await this.#segment();
    if (segment === undefined) return;
    this.#isTorn = true;
    const encoded = await this.#filling.fill(segment, (written) => this.#close(segment, written, isLast));
    if (encoded === undefined) return;
    if (encoded !== 'nothing') {
      const { written, dead } = encoded;
      const began = this.syncs === undefined ? 0 : this.#parts.runtime.now();
      if (!(await this.#write(segment))) return;
      if (durability === 'fsync') await segment.file.sync();
      this.syncs?.record((this.#parts.runtime.now() - began) / 1000);
      await this.#cacheBodies(written);
      this.count++;
      for (const one of dead) await this.#remove(one);
      space.afterWrite();
      const { segments, segmentSize } = this.#parts;
      const isUsed = segment.end > Math.min(inUse, segmentSize / 2);
      if (durability === 'fsync' && isUsed && !this.#isOver()) this.#next.prepare(segments.nextNumber);
    } else if (this.#compaction.isReady) {
      await nextTurn(this.#parts.runtime); // the compaction found no record to copy in this turn
    }
    this.#isTorn = false;
    if (this.#isClosed) return;
    this.#compaction.prepare(() => this.#schedule());
    const waiter = this.#waiter;
    this.#waiter = undefined;
    this.#isInFlight = false;
    if (waiter !== undefined && durability !== 'none') call(waiter);
  }

  /** The batch has all changes up to this turn. Changes from now on belong to the next batch. */
  #close(segment: Segment, written: readonly Message[], isLast: boolean): Encoded | 'nothing' {
    this.#waiter = this.#nextWaiter;
    this.#nextWaiter = undefined;
    this.#isInFlight = true;
    const isWritten = this.#batch.length > 0 || isLast || this.#isWanted;
    this.#isWanted = false;
    if (!isWritten) return 'nothing';
    const dead = this.#deadSegments(segment);
    if (dead.length > 0 || this.#batch.hasCheckpoint) this.#batch.oldest(this.#oldestWithout(dead));
    this.#batch.commit(this.#parts.now());
    return { written, dead };
  }

  /** The messages are durable, so their bodies may leave the memory. */
  async #cacheBodies(written: readonly Message[]): Promise<void> {
    const { inventory, recordsInTurn, runtime } = this.#parts;
    const inTurn = recordsInTurn * bodiesInRecord;
    let left = inTurn;
    for (const message of written) {
      if (left-- === 0) {
        await nextTurn(runtime);
        left = inTurn - 1;
      }
      if (message.slot !== undefined) inventory.bodies.add(message);
    }
  }

  /** The segments that are not needed once this batch is durable: from the oldest on, without a gap. */
  #deadSegments(active: Segment): readonly Segment[] {
    const dead: Segment[] = [];
    for (const segment of this.#parts.segments) {
      if (segment === active || segment.live > 0 || this.#filling.holds(segment)) break;
      dead.push(segment);
    }
    return dead;
  }

  /** The number of the oldest segment but for these, which are the oldest ones. */
  #oldestWithout(dead: readonly Segment[]): number {
    const segments = [...this.#parts.segments];
    return (segments[dead.length] as Segment).number;
  }

  /** @returns false when the batch was abandoned because the disk stayed full */
  async #write(segment: Segment): Promise<boolean> {
    const { space } = this.#parts;
    const chunks = this.#batch.chunks();
    const { length } = this.#batch;
    const { segmentSize } = this.#parts;
    const end = segment.end + length;
    // The last batch of a segment needs no room behind it.
    const isAtEnd = end > segment.allocated && end < segmentSize && length < smallBatch;
    const inAdvance = isAtEnd ? Math.min(zeros.length, segmentSize) : 0;
    if (inAdvance > 0) chunks.push(zeros.subarray(0, inAdvance));
    const written = await writeAll(segment.file, chunks, segment.end, space, this.#isOver, inAdvance);
    if (written < length) return false;
    segment.allocated = Math.max(segment.allocated, segment.end + written);
    segment.end = end;
    return true;
  }

  /** The segment for the next batch; undefined when the disk has no room for one and the log is closed. */
  async #segment(): Promise<Segment | undefined> {
    const { segments } = this.#parts;
    const { active } = segments;
    // A segment of an older format gets no records of this one: an older program could not read them.
    if (active !== undefined && active.end < this.#compaction.fullAt && active.version === formatVersion) return active;
    // All its batches are durable. The zeros behind them may come back with a power cut: they do no harm.
    if (active !== undefined && active.allocated > active.end) await active.file.truncate(active.end);
    const segment = await this.#next.take(segments.nextNumber);
    if (segment === undefined) return undefined;
    if (active !== undefined) this.#hints.sealed(active);
    segment.digest = new Digest(this.#parts.maxDigestBytes);
    segments.add(segment);
    this.#filling.segmentBegun();
    return segment;
  }

  async #remove(segment: Segment): Promise<void> {
    const { disk, segments, durability } = this.#parts;
    segments.remove(segment);
    this.#left.add(segment.file);
    await disk.unlink(segment.name);
    // Not awaited: the publishers of this batch would wait for hints of other segments that are being written.
    const hintRemoved = this.#hints.remove(segment);
    // One after the other: an old segment that reappears after a power cut would bring back settled messages.
    if (durability === 'fsync') await disk.syncDir();
    // A hint of this segment may still be made from its file.
    void hintRemoved.then(() => this.#letGo(segment)).catch(() => undefined);
  }

  async #letGo({ held, file }: Segment): Promise<void> {
    if (held !== undefined) this.#held.register(held, file);
    else await this.#closeLeft(file);
  }

  #closeLeft(file: DiskFile): Promise<void> {
    this.#left.delete(file);
    return file.close();
  }
}

/** An error that a waiter throws is no fault of the disk. */
function call(waiter: Settled, failure?: StoreError): void {
  try {
    waiter(failure);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
