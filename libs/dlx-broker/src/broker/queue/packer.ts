import type { RowStore } from '../ports.js';
import { CountedEntry, type Entry } from './entry.js';

/** When queues keep waiting messages as rows, and not as objects. */
export interface Packing {
  /** A line of more messages than this is long: the messages in its middle become rows. */
  readonly from: number;
  /** Messages of a page. Nearly as many stay objects at the front and at the end of a long line. */
  readonly rows: number;
}

/** A queue of a few thousand messages costs what it did before there were rows. */
export const usualPacking: Packing = { from: 4_096, rows: 1_024 };

/** The most returns that a row can have. */
const mostReturns = 255;

/** Says which messages can become rows. All queues of a broker share it. */
export class Packer implements Packing {
  readonly from: number;
  readonly rows: number;

  constructor(
    /** Undefined without a journal. */
    readonly store: RowStore | undefined,
    { from, rows }: Packing,
  ) {
    this.from = from;
    this.rows = rows;
  }

  /**
   * Whether a row can have all of an entry and its message. A message that a store has only in part, and one whose body belongs to
   * another message, stays an object.
   */
  fits(entry: Entry): boolean {
    if (entry.returns > 0 && (entry.returns > mostReturns || entry instanceof CountedEntry)) return false;
    const { message } = entry;
    // A body that the store keeps in memory is delivered from there: the row would have to read it from disk.
    if (entry.slot !== undefined) return !message.isLoaded && this.store !== undefined && this.store.hasAll(entry);
    return message.slot === undefined && message.isLoaded && message.sharesWith === undefined;
  }
}
