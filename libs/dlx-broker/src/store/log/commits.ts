import { AsyncResource } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Settled, TopologyChange } from '../../broker/index.js';
import type { Message } from '../../message/index.js';
import type { StoreError } from '../store-error.js';
import { Batch } from './batch.js';
import { Compaction, type CompactionOptions } from './compaction.js';
import type { Disk, DiskFile } from './disk.js';
import { closed, noRoom, writeFailed } from './faults.js';
import { Filling, type FillingParts } from './filling.js';
import { NextSegment, zeros } from './next-segment.js';
import type { Durability } from './options.js';
import { formatVersion } from './segment-header.js';
import { Segment, type Segments } from './segment.js';
import type { Space } from './space.js';
import { writeAll } from './write-all.js';

/** A batch this small makes its file longer in advance: to write where the file is already costs half. */
const smallBatch = 65_536;
/** After so many bytes of a segment, or half of it, it is likely that there will be a next one. */
const inUse = 1_048_576;

export interface CommitParts extends CompactionOptions, FillingParts {
  readonly disk: Disk;
  readonly segments: Segments;
  readonly space: Space;
  readonly durability: Durability;
  readonly now: () => number;
  readonly failed: (error: StoreError) => void;
}

/** A batch that is ready. */
interface Encoded {
  /** The messages in it, whose bodies may leave the memory when it is safe. */
  readonly written: readonly Message[];
  /** Segments that go when it is safe. */
  readonly dead: readonly Segment[];
}

/** Writes batch by batch: while one is on its way to the disk, the next one collects. */
export class Commits {
  /** Batches since it was opened. */
  count = 0;
  failure: StoreError | undefined;
  readonly #parts: CommitParts;
  readonly #batch = new Batch();
  readonly #compaction: Compaction;
  readonly #filling: Filling;
  readonly #next: NextSegment;
  /**
   * The waiter for the batch that is being collected, and for the batch being written: the last of each stands for all.
   */
  #waiting: Settled | undefined;
  #told: Settled | undefined;
  #isWriting = false;
  /**
   * A batch was given up in the middle: what the inventory takes for written is not in the log, and nothing may follow.
   */
  #isTorn = false;
  /** A batch is encoded, and not safe yet. */
  #isOnItsWay = false;
  #isScheduled = false;
  /** A batch is to be written even if it says nothing. */
  #isFreeing = false;
  #isClosed = false;
  readonly #idle: (() => void)[] = [];
  /** While there is work the async context of its first publisher would be kept, and with it what belongs to a request. */
  readonly #home = new AsyncResource('DlxJournal');
  /** Closes the files of segments that are gone when the last message that is read from them is. */
  readonly #held = new FinalizationRegistry<DiskFile>((file) => void file.close().catch(() => undefined));

  constructor(parts: CommitParts, checkpoint: number) {
    this.#parts = parts;
    this.#compaction = new Compaction(parts.inventory, parts.segments, parts);
    this.#filling = new Filling(parts, this.#batch, this.#compaction, this.#isOver, checkpoint);
    this.#next = new NextSegment(parts.disk, parts.space, parts.segmentSize, this.#isOver);
    parts.space.whenExhausted = () => this.#wakeIdle();
  }

  changed(queue: number, change: TopologyChange): void {
    this.#filling.changed(queue, change);
  }

  /** The end of a command. @param synced called when all so far is safe, or with the reason why it never will be */
  commit(synced: Settled | undefined): void {
    if (this.failure !== undefined || this.#isClosed) return synced?.(this.failure ?? closed());
    if (this.#hasWork) {
      if (this.#parts.durability === 'none') synced?.();
      else if (synced !== undefined) this.#waiting = synced;
      this.#schedule();
    } else if (synced !== undefined) {
      if (this.#isOnItsWay && this.#parts.durability !== 'none') this.#told = synced;
      else synced();
    }
  }

  /** Messages were forgotten that no batch tells of: with the next one the segments go that are needed no longer. */
  freeSegments(): void {
    if (this.failure !== undefined || this.#isClosed) return;
    this.#isFreeing = true;
    this.#schedule();
  }

  /** Too little is free: what was made in advance goes. */
  makeRoom(): void {
    this.#next.giveUp().catch(() => undefined);
  }

  /** Resolves when nothing is left to be written. @throws StoreError */
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
      // A disk that is full, or fills up now, may stay so: what waits for room is given up, and its publishers hear of it.
      await this.#flushUnless(() => space.isExhausted);
      this.#isClosed = true;
      space.close();
      while (this.#isWriting) await new Promise<void>((resolve) => this.#idle.push(resolve));
      // A last commit with nothing in it says that the one before it is safe.
      if (this.failure === undefined && !this.#isTorn && !space.isLow && this.count > 0) await this.#step(true);
    } finally {
      this.#isClosed = true;
      space.close();
      this.#giveUp(this.failure ?? (space.isExhausted ? noRoom() : closed()));
      await Promise.allSettled([this.#next.close(), ...[...segments].map(({ file }) => file.close())]);
    }
  }

  readonly #isOver = (): boolean => this.#isClosed || this.failure !== undefined;

  get #hasWork(): boolean {
    if (this.#filling.isOn || this.#filling.hasChanges) return true;
    return !this.#parts.inventory.isWritten || this.#compaction.isReady || this.#isFreeing;
  }

  /** All that is said in this turn of the host goes as one. */
  #schedule(): void {
    if (this.#isScheduled || this.#isWriting) return;
    this.#isScheduled = true;
    this.#home.runInAsyncScope(setImmediate, undefined, this.#begin);
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

  /** The disk is lost: from now on nothing is promised to anybody. */
  fail(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = writeFailed(error);
    this.#parts.failed(this.failure);
    this.#giveUp(this.failure);
    this.#wakeIdle();
  }

  #wakeIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Calls the waiters with the reason. How much of the batch being written reached the disk is unknown. */
  #giveUp(reason: StoreError): void {
    const told = this.#waiting ?? this.#told;
    this.#waiting = this.#told = undefined;
    if (told !== undefined) tell(told, reason);
  }

  /** One batch, from what collected to those who waited for it. */
  async #step(isLast: boolean): Promise<void> {
    const { durability, space } = this.#parts;
    const segment = await this.#segment();
    if (segment === undefined) return;
    this.#isTorn = true;
    const encoded = await this.#filling.fill(segment, (written) => this.#close(segment, written, isLast));
    if (encoded === undefined) return;
    if (encoded !== 'nothing') {
      const { written, dead } = encoded;
      if (!(await this.#write(segment))) return;
      if (durability === 'fsync') await segment.file.sync();
      await this.#keepBodies(written);
      this.count++;
      for (const one of dead) await this.#remove(one);
      space.mind();
      const { segments, segmentSize } = this.#parts;
      const isUsed = segment.end > Math.min(inUse, segmentSize / 2);
      if (durability === 'fsync' && isUsed && !this.#isOver()) this.#next.prepare(segments.nextNumber);
    } else if (this.#compaction.isReady) {
      await nextTurn(); // it found nothing to copy in this turn
    }
    this.#isTorn = false;
    if (this.#isClosed) return;
    this.#compaction.prepare(() => this.#schedule());
    const told = this.#told;
    this.#told = undefined;
    this.#isOnItsWay = false;
    if (told !== undefined && durability !== 'none') tell(told);
  }

  /**
   * The batch tells all that is true in this turn. What is said from now on belongs to the next one.
   */
  #close(segment: Segment, written: readonly Message[], isLast: boolean): Encoded | 'nothing' {
    this.#told = this.#waiting;
    this.#waiting = undefined;
    this.#isOnItsWay = true;
    const isWanted = this.#batch.length > 0 || isLast || this.#isFreeing;
    this.#isFreeing = false;
    if (!isWanted) return 'nothing';
    const dead = this.#deadSegments(segment);
    this.#batch.commit(this.#parts.now());
    return { written, dead };
  }

  /** They are safe, so their bodies may leave the memory. */
  async #keepBodies(written: readonly Message[]): Promise<void> {
    const { inventory, recordsInTurn } = this.#parts;
    let left = recordsInTurn;
    for (const message of written) {
      if (left-- === 0) {
        await nextTurn();
        left = recordsInTurn - 1;
      }
      if (message.slot !== undefined) inventory.bodies.keep(message);
    }
  }

  /** Old segments with nothing in them that is needed once this batch is safe: from the oldest on, without a gap. */
  #deadSegments(active: Segment): readonly Segment[] {
    const dead: Segment[] = [];
    for (const segment of this.#parts.segments) {
      if (segment === active || segment.live > 0 || this.#filling.holds(segment)) break;
      dead.push(segment);
    }
    return dead;
  }

  /** @returns false when it was given up, for the disk was full to the end */
  async #write(segment: Segment): Promise<boolean> {
    const { space } = this.#parts;
    const chunks = this.#batch.chunks();
    const { length } = this.#batch;
    const { segmentSize } = this.#parts;
    const end = segment.end + length;
    // Not when it is the last of its segment.
    const isAtEnd = end > segment.allocated && end < segmentSize && length < smallBatch;
    const inAdvance = isAtEnd ? Math.min(zeros.length, segmentSize) : 0;
    if (inAdvance > 0) chunks.push(zeros.subarray(0, inAdvance));
    const written = await writeAll(segment.file, chunks, segment.end, space, this.#isOver, inAdvance);
    if (written < length) return false;
    segment.allocated = Math.max(segment.allocated, segment.end + written);
    segment.end = end;
    return true;
  }

  /** Where the next batch goes; undefined when there is no room for a new segment, and no commit waits any longer. */
  async #segment(): Promise<Segment | undefined> {
    const { segments, durability } = this.#parts;
    const { active } = segments;
    // One of an older format gets nothing that those who know that one cannot read.
    if (active !== undefined && active.end < this.#compaction.fullAt && active.version === formatVersion) return active;
    if (active !== undefined) {
      if (active.allocated > active.end) await active.file.truncate(active.end);
      // Also what a process before this one left in it: nothing is safe before all that was written earlier is.
      if (durability === 'fsync') await active.file.sync();
    }
    const segment = await this.#next.take(segments.nextNumber);
    if (segment === undefined) return undefined;
    segments.add(segment);
    this.#filling.segmentBegun();
    return segment;
  }

  async #remove(segment: Segment): Promise<void> {
    const { disk, segments, durability } = this.#parts;
    segments.remove(segment);
    await disk.unlink(segment.name);
    // One after the other: an old one that came back after a power cut would bring back what the next one settled.
    if (durability === 'fsync') await disk.syncDir();
    if (segment.isHeld) this.#held.register(segment, segment.file);
    else await segment.file.close();
  }
}

/** An error that a waiter throws is no fault of the disk. */
function tell(told: Settled, failure?: StoreError): void {
  try {
    told(failure);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
