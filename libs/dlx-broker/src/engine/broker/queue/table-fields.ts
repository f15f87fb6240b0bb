import { ByteWriter, type FieldTable, isLargerThan, isPackable, PackedTable, writeTable } from '../../message/index.js';

/** Headers of more bytes are not compared: few messages have them. */
const maxCompared = 8_192;
/** Bytes of the length before the fields. */
const lengthBytes = 4;

/** A part of a buffer. */
export interface Part {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Encodes the fields of tables. A buffer serves them all in turn. */
export class TableFields extends ByteWriter {
  constructor() {
    super(Buffer.allocUnsafe(256));
  }

  /** The bytes of the fields, valid until the next call; undefined when they are too many, or when the wire cannot carry a value unchanged. */
  of(table: FieldTable): Part | undefined {
    if (isLargerThan(table, maxCompared)) return undefined;
    if (table instanceof PackedTable) return table;
    if (!isPackable(table)) return undefined;
    this.at = 0;
    writeTable(this, table);
    return { bytes: this.bytes, start: lengthBytes, end: this.at };
  }
}
