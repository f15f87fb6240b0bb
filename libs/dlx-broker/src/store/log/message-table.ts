import { Words } from './columns.js';

/**
 * All messages of the log, in columns: at most 32 bytes a message. A message has a number, the row it stands in; a number that is
 * free again is given to the next one, so a serial identifies the message of that number.
 */
export class MessageTable {
  /** Segment, offset and length of its record; segment 0 is not written yet. */
  readonly segment = new Words();
  readonly offset = new Words();
  readonly length = new Words();
  readonly serial = new Words();
  /** The message whose body it shares, 0 for its own. */
  readonly root = new Words();
  /** Entries of this message. */
  readonly own = new Words();
  /** Messages that share its body. */
  readonly shares = new Words();
  /** Where it stands among the bodies in memory, 0 for not there. */
  readonly held = new Words();
  /** Messages there are. */
  count = 0;
  /** Rows in use or free: those below were used once. */
  end = 1;
  /** Free rows are chained by their offsets. */
  #free = 0;
  #nextSerial = 1;

  /** Of all columns. */
  get bytes(): number {
    const { segment, offset, length, serial, root, own, shares, held } = this;
    return [segment, offset, length, serial, root, own, shares, held].reduce((sum, { bytes }) => sum + bytes, 0);
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
  }

  /** While the log is read: makes the row of a number there. */
  reach(number: number): void {
    if (number >= this.end) this.end = number + 1;
  }

  /** After the log was read: counts the rows in use and chains the others. */
  settleRows(): void {
    this.#free = 0;
    this.count = 0;
    for (let number = this.end - 1; number > 0; number--) {
      if (this.serial.get(number) >= this.#nextSerial) this.#nextSerial = after(this.serial.get(number));
      this.count++;
      if (this.own.get(number) === 0 && this.shares.get(number) === 0) this.free(number);
    }
  }
}

/** The next serial: they begin anew at 1 when they have become too large for their column, for 0 is none. */
const after = (serial: number): number => (serial % 0xffff_ffff) + 1;
