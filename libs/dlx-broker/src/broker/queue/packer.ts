import type { RowStore } from '../ports.js';
import { CountedEntry, type Entry } from './entry.js';

/** When queues keep waiting messages as rows, and not as objects. */
export interface Packing {
  /** A line of more messages than this is long: the messages in its middle become rows. */
  readonly from: number;
  /** Messages of a page. Nearly as many stay objects at the front and at the end of a long line. */
  readonly rows: number;
}

/** The default: messages of a queue with up to a few thousand messages stay objects. */
export const usualPacking: Packing = { from: 4_096, rows: 1_024 };

/** The most returns that a row can have. */
const maxReturns = 255;

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
   * Whether a row can hold all of an entry and its message. A message stays an object if a store has only a part of it, or if its
   * body belongs to another message.
   */
  fits(entry: Entry): boolean {
    if (entry.returns > 0 && (entry.returns > maxReturns || entry instanceof CountedEntry)) return false;
    const { message } = entry;
    // A message with its body in memory stays an object: a row would have to read the body from disk again.
    if (entry.slot !== undefined) return !message.isLoaded && this.store !== undefined && this.store.hasAll(entry);
    return message.slot === undefined && message.isLoaded && message.sharesWith === undefined;
  }
}
