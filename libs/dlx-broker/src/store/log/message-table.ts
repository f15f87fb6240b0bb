import { Words } from './columns.js';
import { isTurnOver } from './in-turns.js';
import { Tidying } from './tidying.js';

/**
 * All messages of the store, in columns: at most 32 bytes a message, and about 8 in a long queue. The number of a message is its row. Free numbers are
 * used again, so a serial tells the messages of one number apart.
 */
export class MessageTable {
  /** Segment, offset and length of its record; segment 0 means that it is not in the log yet. */
  readonly segment = new Words();
  readonly offset = new Words();
  readonly length = new Words();
  readonly serial = new Words();
  /** The message whose body it shares, 0 for a body of its own. */
  readonly root = new Words();
  /** Entries of this message. */
  readonly own = new Words();
  /** Messages that share its body. */
  readonly shares = new Words();
  /** Its place in the cache of bodies, 0 for a body that is not there. */
  readonly cached = new Words();
  /** Messages in the table. */
  count = 0;
  /** Rows below were used at least once. */
  end = 1;
  /** Free rows are chained by their offsets. */
  #free = 0;
  #nextSerial = 1;
  readonly #tidying = new Tidying([
    this.segment,
    this.offset,
    this.length,
    this.serial,
    this.root,
    this.own,
    this.shares,
    this.cached,
  ]);

  /** The memory of all columns, in bytes. */
  get bytes(): number {
    const { segment, offset, length, serial, root, own, shares, cached } = this;
    return [segment, offset, length, serial, root, own, shares, cached].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** @returns its number */
  add(root: number): number {
    let number = this.#free;
    if (number === 0) {
      number = this.end++;
    } else {
      this.#free = this.offset.get(number);
    }
    this.serial.set(number, this.#nextSerial);
    this.#nextSerial = after(this.#nextSerial);
    this.root.set(number, root);
    this.count++;
    this.#tidying.step(number, this.end);
    return number;
  }

  free(number: number): void {
    this.segment.set(number, 0);
    this.serial.set(number, 0);
    this.root.set(number, 0);
    this.own.set(number, 0);
    this.shares.set(number, 0);
    this.offset.set(number, this.#free);
    this.#free = number;
    this.count--;
    this.#tidying.step(number, this.end);
  }

  /** While the log is read: makes the row of this number exist. */
  reach(number: number): void {
    if (number >= this.end) this.end = number + 1;
  }

  /** After the log was read: counts the rows in use and chains the others. Some in each step. */
  *rebuildingFreeList(): Generator<void, undefined> {
    this.#free = 0;
    this.count = 0;
    for (let number = this.end - 1; number > 0; number--) {
      if (isTurnOver(number)) yield;
      if (this.serial.get(number) >= this.#nextSerial) this.#nextSerial = after(this.serial.get(number));
      this.count++;
      if (this.own.get(number) === 0 && this.shares.get(number) === 0) this.free(number);
    }
    yield* this.#tidying.all(this.end);
  }
}

/** The next serial. After the largest value of the column serials begin at 1 again: 0 is no serial. */
const after = (serial: number): number => (serial % 0xffff_ffff) + 1;
