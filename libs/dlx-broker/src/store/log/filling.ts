import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TopologyChange } from '../../broker/index.js';
import type { Message } from '../../message/index.js';
import type { StoreError } from '../store-error.js';
import type { Batch } from './batch.js';
import type { Compaction } from './compaction.js';
import { type Declared, plainOf } from './declared.js';
import { encodeSome } from './encode-inventory.js';
import { beforeNextTry, gather } from './gather.js';
import type { Inventory } from './inventory.js';
import type { Segment } from './segment.js';

/** Something declared is so much more work than a record of a message or an entry. */
const recordsInChange = 4;
/** Declarations up to this many bytes are repeated in every segment. */
const shortCheckpoint = 65_536;

export interface FillingParts {
  readonly inventory: Inventory;
  readonly declared: Declared;
  /** Records that are written into a batch in one turn of the host. */
  readonly recordsInTurn: number;
  readonly damaged: (error: StoreError) => void;
}

/**
 * Fills batches with what the log does not know yet, each in as many turns of the host as it takes. Commands come in
 * between. A batch is closed in the turn in which nothing is left, so it tells what is true then, and no half of a
 * command.
 */
export class Filling {
  /** A batch is being filled: what is said meanwhile still goes with it. */
  isOn = false;
  /** The segment with the last full account of what is declared; 0 before there is one. */
  #checkpoint: number;
  #checkpointLength = 0;
  #checkpointDue = true;
  /** The account that is being written. */
  #checkpointing: Iterator<void, undefined> | undefined;
  #changes: { readonly queue: number; readonly change: TopologyChange }[] = [];

  constructor(
    readonly parts: FillingParts,
    readonly batch: Batch,
    readonly compaction: Compaction,
    /** Nothing is written any more. */
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

  /** The log goes on in another segment. */
  segmentBegun(): void {
    if (this.#checkpointLength <= shortCheckpoint) this.#checkpointDue = true;
  }

  /** Whether the segment has to stay until the next batch, which tells again what is declared. */
  holds(segment: Segment): boolean {
    if (segment.number !== this.#checkpoint) return false;
    this.#checkpointDue = true;
    return true;
  }

  /**
   * Writes all that is said by then into a batch.
   * @param close called in the turn in which nothing is left, with the messages that are in the batch
   * @returns what `close` does; undefined when it was given up
   */
  async fill<T>(segment: Segment, close: (written: readonly Message[]) => T): Promise<T | undefined> {
    const { inventory, recordsInTurn, damaged } = this.parts;
    const written: Message[] = [];
    let attempt = 0;
    this.isOn = true;
    try {
      this.batch.begin(segment);
      if (this.#checkpointDue) this.#beginCheckpoint();
      for (let limit = recordsInTurn; ;) {
        const error = gather(inventory, limit);
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
        await nextTurn();
        if (this.isOver()) return undefined;
        // With each turn less is left, whatever comes meanwhile.
        limit = recordsInTurn + Math.max(0, Math.ceil(this.#waiting - before));
      }
    } finally {
      this.isOn = false;
      this.#checkpointing = undefined;
    }
  }

  /** Records there are to write, about. */
  get #waiting(): number {
    return this.parts.inventory.waiting + this.#changes.length * recordsInChange;
  }

  /**
   * What one turn allows. What is declared comes before all else: numbers of the entries of queues that are gone are
   * given to others.
   * @returns whether nothing is left
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
    if (!encodeSome(this.parts.inventory, batch, segment, written, limit)) return false;
    this.compaction.copy(batch, segment, limit);
    return true;
  }

  /**
   * What was said of it so far is in it. What is said while it is written comes behind it, whether it is in it or not.
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
    this.compaction.isDeclaredInEach = length <= shortCheckpoint;
  }
}
