import type { RowStore } from '../ports.js';
import { CountedEntry, type Entry } from './entry.js';

/** When queues keep waiting messages as rows, and not as objects. */
export interface Packing {
  /** A line of more messages than this is long: the messages in its middle become rows. */
  readonly from: number;
  /** Messages of a page. Nearly as many stay objects at the front and at the end of a long line. */
  readonly rows: number;
  /** A few lines of a broker may have more objects; undefined: none may. */
  readonly spared?: Spared | undefined;
}

/** Lines that are spared the work of making rows and objects again, because they are only a few. */
interface Spared {
  /** The most of them at a time. */
  readonly lines: number;
  /** Such a line is long from here on. */
  readonly from: number;
}

/** The default: a few thousand messages of a queue stay objects. The spared lines have 65,536 at most, some 20 MB. */
export const usualPacking: Packing = { from: 4_096, rows: 1_024, spared: { lines: 4, from: 16_384 } };

/** The most returns that a row can have. */
const maxReturns = 255;

/** Says which messages can become rows. All queues of a broker share it. */
export class Packer implements Packing {
  readonly from: number;
  readonly rows: number;
  readonly spared: Spared | undefined;
  /** Lines that are spared now. */
  #lines = 0;

  constructor(
    /** Undefined without a journal. */
    readonly store: RowStore | undefined,
    { from, rows, spared }: Packing,
  ) {
    this.from = from;
    this.rows = rows;
    this.spared = spared;
  }

  /**
   * Spares a line of more than {@link from} messages until it is empty or too long. It then calls {@link endSparing}.
   * @returns from which length on it is long; undefined if enough lines are spared
   */
  spare(): number | undefined {
    if (this.spared === undefined || this.#lines === this.spared.lines) return undefined;
    this.#lines++;
    return this.spared.from;
  }

  endSparing(): void {
    this.#lines--;
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
