import {
  areSameNotes,
  ByteWriter,
  type FieldTable,
  isLargerThan,
  isPackable,
  noBytes,
  type Notes,
  PackedTable,
  type Properties,
  writeTable,
} from '../../../message/index.js';

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

/** All of a message but its body. */
export interface Metadata {
  readonly exchange: string;
  readonly routingKey: string;
  readonly own: Properties;
  readonly notes: Notes | undefined;
}

/** Whether two messages differ at most in values that often differ: routing key, ids, expiration, type, timestamp and headers. */
export const areAlike = (one: Metadata, other: Metadata): boolean =>
  one.exchange === other.exchange &&
  (one.own === other.own || haveAlikeProperties(one.own, other.own)) &&
  areSameNotes(one.notes, other.notes);

const haveAlikeProperties = (one: Properties, other: Properties): boolean =>
  one.deliveryMode === other.deliveryMode &&
  one.contentType === other.contentType &&
  one.priority === other.priority &&
  one.contentEncoding === other.contentEncoding &&
  one.userId === other.userId &&
  one.appId === other.appId &&
  one.clusterId === other.clusterId;

/** Metadata to which those of other messages refer. */
export class Head implements Metadata {
  readonly exchange: string;
  readonly routingKey: string;
  readonly own: Properties;
  readonly notes: Notes | undefined;
  #fields: Buffer | undefined;

  constructor({ exchange, routingKey, own, notes }: Metadata) {
    this.exchange = exchange;
    this.routingKey = routingKey;
    this.own = own;
    this.notes = notes;
  }

  /** The fields of its headers, as {@link fieldsBy} made them. */
  get fields(): Buffer {
    return this.#fields ?? noBytes;
  }

  /** Makes {@link fields}: none without headers, and for headers that cannot be bytes. */
  fieldsBy(tables: TableFields): Buffer {
    if (this.#fields !== undefined) return this.#fields;
    const { headers } = this.own;
    const part = headers && tables.of(headers);
    this.#fields = part === undefined ? noBytes : Buffer.from(part.bytes.subarray(part.start, part.end));
    return this.#fields;
  }
}
