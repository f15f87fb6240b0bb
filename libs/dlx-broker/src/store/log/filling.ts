import type { TopologyChange } from '../../engine/broker/index.js';
import { isLost, type Message } from '../../engine/message/index.js';
import type { Batch } from './batch.js';
import type { Compaction } from './compaction.js';
import { type Declared, plainOf } from './declared.js';
import { encodeSome } from './encode-inventory.js';
import type { StoreError } from './faults.js';
import type { Inventory } from './inventory.js';
import { nextTurn, type Runtime } from './options.js';
import type { Segment } from './segment.js';
import { numberIn } from './tables.js';

/** The most tries to read a body. The pause after the first try, in milliseconds, doubles after each further try. */
const tries = 7;
const firstPause = 100;

/**
 * Loads the bodies on disk that the batch needs in this turn: those of messages that moved from a queue that is not stored to one
 * that is. If a body is lost, only the entry is written.
 * @param limit messages of this turn
 * @returns the error when a body cannot be read now: the batch has to wait
 */
function loadBodies({ fresh, messages }: Inventory, limit: number): StoreError | undefined {
  const count = Math.min(fresh.length, limit);
  for (let index = 0; index < count; index++) {
    const message = fresh.at(index);
    const number = numberIn(message.slot);
    if (message.isLoaded || number === 0) continue;
    if (messages.segment.get(number) !== 0 || messages.root.get(number) !== 0) continue;
    try {
      message.load();
    } catch (error) {
      if (!isLost(error)) return error as StoreError;
    }
  }
  return undefined;
}

/** Resolves when it is time for the next try. @param attempt counted from 0 @throws the error after the last try */
async function beforeNextTry(attempt: number, error: StoreError): Promise<void> {
  if (attempt >= tries) throw error;
  await new Promise((resolve) => setTimeout(resolve, firstPause * 2 ** attempt));
}

/** A declaration is as much work as this many records of messages or entries. */
const recordsInChange = 4;

export interface FillingParts {
  readonly inventory: Inventory;
  readonly declared: Declared;
  /** A checkpoint of up to this many bytes is repeated in every segment. */
  readonly shortCheckpoint: number;
  /** Records that are encoded in one turn of the event loop. */
  readonly recordsInTurn: number;
  readonly damaged: (error: StoreError) => void;
  readonly runtime: Runtime;
}

/**
 * Fills batches with the changes of the inventory and of declarations. Each batch takes as many turns of the event loop as
 * it needs, with commands in between. It is closed in the turn in which no change is left, so it never has half of a
 * command.
 */
export class Filling {
  /** A batch is being filled: changes made meanwhile go into it. */
  isOn = false;
  /** The segment with the last checkpoint; 0 before the first one. */
  #checkpoint: number;
  #checkpointLength = 0;
  #checkpointDue = true;
  /** The checkpoint that is being written. */
  #checkpointing: Iterator<void, undefined> | undefined;
  #changes: { readonly queue: number; readonly change: TopologyChange }[] = [];

  constructor(
    readonly parts: FillingParts,
    readonly batch: Batch,
    readonly compaction: Compaction,
    /** True once the log is closed or has failed. */
    readonly isOver: () => boolean,
    checkpoint: number,
  ) {
    this.#checkpoint = checkpoint;
  }

  get hasChanges(): boolean {
    return this.#changes.length > 0;
  }

  changed(queue: number, change: TopologyChange): void {
    this.#changes.push({ queue, change });
  }

  /** A new segment begins. */
  segmentBegun(): void {
    if (this.#checkpointLength <= this.parts.shortCheckpoint) this.#checkpointDue = true;
  }

  /** Whether the segment has the last checkpoint. If so, the next batch writes a new one. */
  holds(segment: Segment): boolean {
    if (segment.number !== this.#checkpoint) return false;
    this.#checkpointDue = true;
    return true;
  }

  /**
   * Encodes all changes into a batch.
   * @param close called in the turn in which no change is left, with the messages in the batch
   * @returns what `close` returns; undefined when the batch was abandoned
   */
  async fill<T>(segment: Segment, close: (written: readonly Message[]) => T): Promise<T | undefined> {
    const { inventory, recordsInTurn, damaged, runtime } = this.parts;
    const written: Message[] = [];
    let attempt = 0;
    this.isOn = true;
    try {
      this.batch.begin(segment);
      if (this.#checkpointDue) this.#beginCheckpoint();
      for (let limit = recordsInTurn; ;) {
        const error = loadBodies(inventory, limit);
        if (error !== undefined) {
          if (attempt === 0) damaged(error);
          await beforeNextTry(attempt++, error);
          if (this.isOver()) return undefined;
          continue;
        }
        attempt = 0;
        if (this.#fillSome(segment, written, limit)) return close(written);
        this.batch.pause();
        const before = this.#waiting;
        await nextTurn(runtime);
        if (this.isOver()) return undefined;
        // The limit grows with the changes that came meanwhile, so less is left after each turn.
        limit = recordsInTurn + Math.max(0, Math.ceil(this.#waiting - before));
      }
    } finally {
      this.isOn = false;
      this.#checkpointing = undefined;
    }
  }

  /** Estimated number of records to write. */
  get #waiting(): number {
    return this.parts.inventory.waiting + this.#changes.length * recordsInChange;
  }

  /**
   * Encodes as many changes as one turn allows. Declarations come first, because numbers of entries of deleted queues are used again.
   * @returns whether no change is left
   */
  #fillSome(segment: Segment, written: Message[], limit: number): boolean {
    const { batch } = this;
    const changes = Math.ceil(limit / recordsInChange);
    for (let left = changes; this.#checkpointing !== undefined; left--) {
      if (left === 0) return false;
      if (this.#checkpointing.next().done === true) this.#endCheckpoint(segment);
    }
    if (this.#changes.length > 0) {
      for (const { queue, change } of this.#changes.splice(0, changes)) batch.topology(queue, plainOf(change));
      if (this.#changes.length > 0) return false;
    }
    const left = encodeSome(this.parts.inventory, batch, segment, written, limit);
    if (left === undefined) return false;
    // However many changes each batch has, the compaction goes on.
    this.compaction.copy(batch, segment, Math.max(left, Math.ceil(limit / 4)));
    return true;
  }

  /**
   * The checkpoint has all changes so far. Changes made while it is being written follow it, even if it has them already.
   */
  #beginCheckpoint(): void {
    this.#checkpointDue = false;
    this.#changes = [];
    this.#checkpointing = this.parts.declared.writing(this.batch);
  }

  #endCheckpoint(segment: Segment): void {
    const { length } = this.batch;
    this.#checkpointing = undefined;
    this.#checkpoint = segment.number;
    this.#checkpointLength = length;
    this.compaction.declaredBytes = length;
    this.compaction.isDeclaredInEach = length <= this.parts.shortCheckpoint;
  }
}
