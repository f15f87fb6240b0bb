import { AsyncResource } from 'node:async_hooks';
import {
  type Broker,
  type Histogram,
  isPersistent,
  type Journal,
  type MessageOwner,
  type Queue,
  type RetainedDeath,
  type Settled,
  type TopologyChange,
} from '../../engine/broker/index.js';
import type { Message } from '../../engine/message/index.js';
import { Commits } from './commits.js';
import { cannotOpen } from './faults.js';
import { inOneTurn, inTurns } from './in-turns.js';
import { Rows } from './inventory.js';
import {
  type Damage,
  defaultDiskFree,
  type Disk,
  type DiskJournalOptions,
  type DiskJournalStats,
  processRuntime,
  type Runtime,
} from './options.js';
import { recover, type Recovered } from './recover.js';
import { checkingRecovered, MessageRestorer } from './restore-messages.js';
import type { Segments } from './segment.js';
import { Space } from './space.js';
import { type Entry, numberIn, slotOf } from './tables.js';

const megabyte = 1024 * 1024;
const segmentBytes = 16 * megabyte;
/** The size from which a digest saves too little, in bytes. */
const maxDigestBytes = ({ segment = segmentBytes, longestHint = 0.5 }: DiskJournalOptions): number =>
  segment * longestHint;
/** Entries of deleted queues dropped in one turn: some milliseconds. */
const droppedInTurn = 4_096;
/**
 * Makes what earlier processes wrote safe from a power cut: they may have run with another durability, or have ended before their
 * last sync, and no batch is durable before the batches in front of it are. A segment with a hint is safe, because its hint was written later.
 * Segments that they deleted must not reappear either. Only a directory without segments has nothing of theirs.
 */
async function syncEarlier(disk: Disk, segments: Segments): Promise<void> {
  if (segments.count === 0) return;
  for (const { file, hasHint } of segments) if (!hasHint) await file.sync();
  await disk.syncDir();
}

/** The number of a queue that is not kept. */
const notStored = 0;

/**
 * A journal on disk: a log of segments, written batch by batch. While one batch is being written, the next one collects
 * changes. A message that comes and goes between two batches is never written.
 */
export class DiskJournal implements Journal {
  /** The damage that was found when the log was opened. */
  readonly damage: Damage;
  /** The number of changes received so far. */
  sequence = 0;
  /** Entries that queues keep as rows; undefined if they keep none. */
  readonly rows: Rows | undefined;
  #recovered: Recovered | undefined;
  #restorer: MessageRestorer | undefined;
  /** True while recovery declares objects that are in the log already. */
  #isDeclaring = false;
  readonly #inventory;
  readonly #declared;
  readonly #segments;
  readonly #space: Space;
  readonly #commits: Commits;
  readonly #afterCrash: boolean;
  readonly #hinted: number;
  readonly #signal: AbortSignal | undefined;
  #isDropping = false;
  /** Without it, dropping entries would keep the async context of the client that deleted the queue. */
  readonly #home = new AsyncResource('DlxJournalDrops');

  private constructor(
    disk: Disk,
    options: DiskJournalOptions,
    recovered: Recovered,
    losses: Pick<Damage, 'queues' | 'misplaced'>,
    private readonly runtime: Runtime,
  ) {
    const { inventory, declared, segments, places } = recovered;
    this.damage = { places, ...losses };
    this.#recovered = recovered;
    this.#hinted = recovered.hinted;
    this.#signal = options.signal;
    this.#inventory = inventory;
    this.rows = options.rows === false ? undefined : new Rows(inventory);
    this.#declared = declared;
    this.#segments = segments;
    this.#afterCrash = options.afterCrash === true;
    const { diskFree = defaultDiskFree, checkInterval = 1_000, spaceChanged = () => undefined } = options;
    const changed = (isLow: boolean): void => {
      if (isLow) this.#commits.makeRoom();
      spaceChanged(isLow);
    };
    const failed = (error: unknown): void => this.#commits.fail(error);
    this.#space = new Space(disk, diskFree, checkInterval, changed, failed, runtime);
    this.#commits = new Commits(
      {
        disk,
        inventory,
        declared,
        segments,
        space: this.#space,
        durability: options.durability ?? 'fsync',
        segmentSize: options.segment ?? segmentBytes,
        maxDigestBytes: maxDigestBytes(options),
        slack: options.slack ?? 64 * megabyte,
        factor: options.factor ?? 3,
        shortCheckpoint: options.shortCheckpoint ?? 65_536,
        recordsInTurn: options.recordsInTurn ?? 2_048,
        now: options.now ?? Date.now,
        failed: options.failed ?? (() => undefined),
        damaged: options.damaged ?? (() => undefined),
        runtime,
      },
      recovered.checkpoint,
    );
    const { damaged = () => undefined } = options;
    inventory.bodies.damaged = (error, segment) => {
      this.#commits.removeHint(segment);
      damaged(error);
    };
  }

  /**
   * Reads the log, and cuts off a batch that is not complete.
   * @throws StoreError when the directory cannot be used, or the reason of the signal; then nothing in it has changed
   */
  static async open(
    disk: Disk,
    options: DiskJournalOptions = {},
    runtime: Runtime = processRuntime,
  ): Promise<DiskJournal> {
    const { memory = 64 * megabyte, hints = 'use', signal } = options;
    const recovered = await recover(disk, { memory, maxDigestBytes: maxDigestBytes(options), hints, signal }, runtime);
    try {
      const losses = await inTurns(checkingRecovered(recovered), runtime, signal);
      for (const repair of recovered.repairs) await repair();
      if ((options.durability ?? 'fsync') === 'fsync') await syncEarlier(disk, recovered.segments);
      const journal = new DiskJournal(disk, options, recovered, losses, runtime);
      await journal.#space.check();
      return journal;
    } catch (error) {
      await recovered.closeFiles();
      signal?.throwIfAborted();
      throw cannotOpen(error);
    }
  }

  get stats(): DiskJournalStats {
    const { entries, messages, bodies } = this.#inventory;
    return {
      entries: entries.count,
      messages: messages.count,
      segments: this.#segments.count,
      bytes: this.#segments.bytes,
      liveBytes: this.#segments.liveBytes,
      memory: bodies.bytes,
      hinted: this.#hinted,
      commits: this.#commits.count,
      diskFree: this.#space.free,
    };
  }

  /** The disk is full or has failed: durable publishes are refused (a nack); settlements and dead letters go on. */
  get isFull(): boolean {
    return this.#space.isLow || this.#commits.failure !== undefined;
  }

  get trouble(): string | undefined {
    const { failure } = this.#commits;
    if (failure !== undefined || !this.#space.isLow) return failure?.message;
    return 'there is too little room on the disk; publishes are taken again when there is more';
  }

  /** The disk failed: nothing is stored any more. */
  get hasFailed(): boolean {
    return this.#commits.failure !== undefined;
  }

  /** Whether the log has every change. After a close it lacks some if the disk was full. */
  get isWritten(): boolean {
    return this.#commits.isWritten;
  }

  /** Measures how long batches take from now on. */
  measure(): void {
    this.#commits.measure();
  }

  /** The seconds that batches took until the disk had them; undefined while that is not measured. */
  get syncs(): Histogram | undefined {
    return this.#commits.syncs;
  }

  /** Fails now, not with the next write: another process may have the directory. */
  fail(cause: unknown): void {
    this.#commits.fail(cause);
  }

  /** Restores the content of the log in a new broker that has this journal (rules L1 to L3). Once. */
  restore(broker: Broker): void {
    const release = broker.hold();
    inOneTurn(this.#restoring(broker));
    release();
  }

  /**
   * The same in turns of the event loop: until the end nothing is served, expires or is written, and no client can connect.
   * @param beforeUse the last step; if it fails, the broker stays held
   * @throws the reason of the signal in the options; then the broker stays held, and nothing was written
   */
  async restoreInTurns(broker: Broker, beforeUse?: () => Promise<void>): Promise<void> {
    const release = broker.hold();
    await inTurns(this.#restoring(broker), this.runtime, this.#signal);
    await beforeUse?.();
    release();
  }

  *#restoring(broker: Broker): Generator<void, undefined> {
    const recovered = this.#recovered;
    if (recovered === undefined) return;
    this.#recovered = undefined;
    this.#isDeclaring = true;
    try {
      yield* recovered.declared.restoring(broker);
    } finally {
      this.#isDeclaring = false;
    }
    this.#restorer = new MessageRestorer(recovered, this.#afterCrash, (number, entry, isChanged, isShortened) => {
      recovered.inventory.restored(number, entry, isChanged, isShortened);
    });
    yield* this.#restorer.restoring(broker);
    if (this.#restorer.hasSuspects) this.#commits.writeCheckpoint();
    this.#restorer = undefined;
  }

  /**
   * Deletes or renames a queue in a journal that no broker has. The change is one batch, and nothing else is written. The
   * caller flushes the journal.
   * @param to the new name; undefined deletes the queue with its messages
   * @param onDurable called when the change is durable, or with an error
   * @returns false when there is no such queue, or one with the new name; then nothing has changed
   */
  edit(vhost: string, queue: string, to: string | undefined, onDurable?: Settled): boolean {
    if (this.#recovered === undefined) throw new TypeError('a broker has this journal');
    const declared = this.#declared;
    const removed = { kind: 'queue', change: 'removed', vhost, name: queue } as const;
    if (to === undefined ? declared.numberOf(vhost, queue) === undefined : !declared.rename(vhost, queue, to))
      return false;
    if (to === undefined) declared.change(removed);
    // The first batch after the start begins with a checkpoint, which has the result.
    this.#commits.changed(0, removed);
    this.#commits.commit(onDurable);
    return true;
  }

  refuses(queue: MessageOwner, message: Message): boolean {
    return this.isFull && this.#keeps(queue, message);
  }

  changed(change: TopologyChange): void {
    // A new broker declares its first virtual host before it is restored. The log may have more about it.
    if (this.#isDeclaring || (this.#recovered !== undefined && this.#segments.count > 0)) return;
    if (!this.#declared.isKept(change)) return;
    this.sequence++;
    for (const queue of this.#declared.change(change)) this.#inventory.queueGone(queue);
    if (change.change === 'removed' && !this.#isDropping) this.#dropSome();
    this.#commits.changed(this.#declared.numberFor(change), change);
  }

  /**
   * Drops entries and bindings of deleted queues, in turns of the event loop. The log needs no record of them.
   */
  readonly #dropSome = (): void => {
    const goesOn = this.#isDropping;
    this.#isDropping = this.#inventory.dropSome(droppedInTurn) || this.#declared.forgetSome(droppedInTurn);
    if (goesOn) this.#inventory.releaseUnreferenced();
    if (this.#isDropping) this.#home.runInAsyncScope(this.runtime.later, undefined, this.#dropSome);
    else if (goesOn) this.#commits.freeSegments();
  };

  #dropAll(): void {
    if (!this.#isDropping) return;
    this.#inventory.dropSome(Infinity);
    this.#declared.forgetSome(Infinity);
    this.#dropSome();
  }

  enqueued(queue: MessageOwner, entry: Entry): void {
    const { message } = entry;
    if (!this.#keeps(queue, message)) return this.detached(message);
    this.sequence++;
    this.#inventory.add(numberIn(queue.slot), entry);
  }

  detached(message: Message): void {
    if (message.sharesWith !== undefined) this.#inventory.bodies.detach(message);
  }

  delivered(_queue: Queue, entry: Entry): void {
    if (entry.slot === undefined) return;
    this.sequence++;
    this.#inventory.markDelivered(entry);
  }

  returned(queue: Queue, entry: Entry): void {
    if (entry.slot === undefined && !this.#isRestored(entry)) return;
    this.sequence++;
    this.#inventory.markReturned(queue, entry);
  }

  died(_queue: Queue, entry: Entry, death: RetainedDeath): void {
    if (entry.slot === undefined && !this.#isRestored(entry)) return;
    this.sequence++;
    this.#inventory.markDead(entry, death);
  }

  settled(_queue: MessageOwner, entry: Entry): void {
    if (entry.slot === undefined && !this.#isRestored(entry)) return;
    this.sequence++;
    this.#inventory.remove(entry);
  }

  commit(settled: Settled | undefined): void {
    this.#inventory.releaseUnreferenced();
    this.#commits.commit(settled);
  }

  /** Resolves when all commits so far are durable. @throws StoreError when the disk failed */
  flush(): Promise<void> {
    this.#dropAll();
    return this.#commits.flush();
  }

  /** Flushes and closes the files. Idempotent. */
  close(): Promise<void> {
    this.#dropAll();
    return this.#commits.close();
  }

  /** Rules L1 and L3. */
  #keeps(queue: MessageOwner, message: Message): boolean {
    queue.slot ??= slotOf(this.#declared.numberOf(queue.home.name, queue.name) ?? notStored);
    return numberIn(queue.slot) !== notStored && isPersistent(queue.declared, message);
  }

  /** Whether this entry is being restored: then it gets its slot now. */
  #isRestored(entry: Entry): boolean {
    const restorer = this.#restorer;
    if (restorer === undefined || restorer.current === 0) return false;
    restorer.link(entry);
    return true;
  }
}
