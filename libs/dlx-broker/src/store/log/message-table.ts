import { firstRows, longer } from './columns.js';

/**
 * All messages of the log, in columns: 32 bytes a message. A message has a number, the row it stands in; a number that is
 * free again is given to the next one, so a serial tells which of its messages somebody means.
 */
export class MessageTable {
  /** Segment, offset and length of its record; segment 0 is not written yet. */
  segment = new Uint32Array(firstRows);
  offset = new Uint32Array(firstRows);
  length = new Uint32Array(firstRows);
  serial = new Uint32Array(firstRows);
  /** The message whose body it shares, 0 for its own. */
  root = new Uint32Array(firstRows);
  /** Entries of this message. */
  own = new Uint32Array(firstRows);
  /** Messages that share its body. */
  shares = new Uint32Array(firstRows);
  /** Where it stands among the bodies in memory, 0 for not there. */
  held = new Uint32Array(firstRows);
  /** Messages there are. */
  count = 0;
  /** Rows in use or free: those below were used once. */
  end = 1;
  /** Free rows are chained by their offsets. */
  #free = 0;
  #nextSerial = 1;

  /** @returns its number */
  add(root: number): number {
    let number = this.#free;
    if (number === 0) {
      number = this.end++;
      if (number === this.segment.length) this.#grow(number * 2);
    } else {
      this.#free = this.offset[number] as number;
    }
    this.serial[number] = this.#nextSerial++;
    this.root[number] = root;
    this.count++;
    return number;
  }

  free(number: number): void {
    this.segment[number] = 0;
    this.serial[number] = 0;
    this.root[number] = 0;
    this.own[number] = 0;
    this.shares[number] = 0;
    this.offset[number] = this.#free;
    this.#free = number;
    this.count--;
  }

  /** While the log is read: makes the row of a number there. */
  reach(number: number): void {
    if (number >= this.segment.length) this.#grow(Math.max(number + 1, this.segment.length * 2));
    if (number >= this.end) this.end = number + 1;
  }

  /** After the log was read: counts the rows in use and chains the others. */
  settleRows(): void {
    this.#free = 0;
    this.count = 0;
    for (let number = this.end - 1; number > 0; number--) {
      if ((this.serial[number] as number) >= this.#nextSerial) this.#nextSerial = (this.serial[number] as number) + 1;
      this.count++;
      if (this.own[number] === 0 && this.shares[number] === 0) this.free(number);
    }
  }

  #grow(rows: number): void {
    this.segment = longer(this.segment, rows);
    this.offset = longer(this.offset, rows);
    this.length = longer(this.length, rows);
    this.serial = longer(this.serial, rows);
    this.root = longer(this.root, rows);
    this.own = longer(this.own, rows);
    this.shares = longer(this.shares, rows);
    this.held = longer(this.held, rows);
  }
}
