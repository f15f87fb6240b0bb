import type { RowStore } from '../../ports.js';
import type { Entry } from '../entry.js';

/** When queues keep waiting messages as rows, and not as objects. */
export interface Packing {
  /** A line of more messages than this is long: the messages in its middle become rows. */
  readonly from: number;
  /** Messages of a page. Nearly as many stay objects at the front and at the end of a long line. */
  readonly rows: number;
  /** A few lines of a broker may have more objects; undefined: none may. */
  readonly exemptions?: Exemptions | undefined;
}

/** Lines whose messages stay objects up to a greater length. Their messages need not become rows and then objects again. */
interface Exemptions {
  /** The most of them at a time. */
  readonly lines: number;
  /** An exempt line of more messages than this is long. */
  readonly upTo: number;
}

/** The default: a few thousand messages of a queue stay objects. The exempt lines have 65,536 at most, some 20 MB. */
export const usualPacking: Packing = { from: 4_096, rows: 1_024, exemptions: { lines: 4, upTo: 16_384 } };

/** Says which messages can become rows. All queues of a broker share it. */
export class Packer implements Packing {
  readonly from: number;
  readonly rows: number;
  readonly exemptions: Exemptions;
  /** Lines that are exempt now. */
  #exempt = 0;

  constructor(
    /** Undefined without a journal. */
    readonly store: RowStore | undefined,
    { from, rows, exemptions }: Packing,
  ) {
    this.from = from;
    this.rows = rows;
    this.exemptions = exemptions ?? { lines: 0, upTo: from };
  }

  /** The exemption of a line ends when it has become as short as this. */
  get exemptDownTo(): number {
    return Math.max(1, this.from >> 1);
  }

  /**
   * Exempts a line that has become longer than {@link from}. The line calls {@link endExemption} when it is short again or too long.
   * @returns false if enough lines are exempt
   */
  beginExemption(): boolean {
    if (this.#exempt === this.exemptions.lines) return false;
    this.#exempt++;
    return true;
  }

  endExemption(): void {
    this.#exempt--;
  }

  /**
   * Whether a row can hold all of an entry and its message. A message stays an object if a store has only a part of it, or if its
   * body belongs to another message.
   */
  fits(entry: Entry): boolean {
    const { message } = entry;
    // A message with its body in memory stays an object: a row would have to read the body from disk again.
    if (entry.slot !== undefined) return !message.isLoaded && this.store !== undefined && this.store.hasAll(entry);
    return message.slot === undefined && message.isLoaded && message.sharesWith === undefined;
  }
}
