import type { Message } from '../../../message/index.js';
import type { Deque } from '../../deque.js';
import type { RowStore } from '../../ports.js';
import { DeltaWriter, readDelta } from './delta.js';
import type { Entry } from '../entry.js';
import { areAlike, Head, type Metadata, TableFields } from './metadata.js';
import type { Packer } from './packer.js';

/**
 * One number for each row of a page. A series with even steps needs no array: the same number in all rows, or a number that grows
 * by the same step.
 */
class Series {
  private constructor(
    readonly first: number,
    readonly step: number,
    /** Undefined for even steps. */
    readonly values: Values | undefined,
  ) {}

  static of(values: Float64Array): Series {
    const first = values.length > 0 ? (values[0] as number) : 0;
    const step = values.length > 1 ? (values[1] as number) - first : 0;
    let largest = 0;
    let isWhole = true;
    let isEven = true;
    for (let row = 0; row < values.length; row++) {
      const value = values[row] as number;
      if (value !== first + step * row) isEven = false;
      if (value > largest) largest = value;
      if (value < 0 || !Number.isInteger(value)) isWhole = false;
    }
    if (isEven) return new Series(first, step, undefined);
    return new Series(0, 0, isWhole ? narrow(values, largest) : values);
  }

  at(row: number): number {
    const { values } = this;
    return values === undefined ? this.first + this.step * row : (values[row] as number);
  }
}

type Values = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** The numbers in as few bytes as the largest one needs. */
function narrow(values: Float64Array, largest: number): Values {
  if (largest <= 0xff) return Uint8Array.from(values);
  if (largest <= 0xffff) return Uint16Array.from(values);
  return largest <= 0xffff_ffff ? Uint32Array.from(values) : values;
}

/** The number of the latest heads that are compared with the next message. */
const comparedCount = 8;

/** The metadata of the messages of a page: a few heads, and for each message a head and how it differs from that. */
export class MetadataRows {
  constructor(
    readonly heads: readonly Head[],
    readonly headOf: Series,
    /** Where the difference is in the bytes; 0 when there is none. */
    readonly deltaOf: Series,
    readonly deltas: Buffer,
  ) {}

  at(row: number): Metadata {
    const head = this.heads[this.headOf.at(row)] as Head;
    const delta = this.deltaOf.at(row);
    return delta === 0 ? head : readDelta(this.deltas, delta, head);
  }
}

/** Makes {@link MetadataRows} row by row. */
export class MetadataBuilder {
  readonly #heads: Head[] = [];
  readonly #headOf: Float64Array;
  readonly #deltaOf: Float64Array;
  readonly #tables = new TableFields();
  readonly #writer = new DeltaWriter(this.#tables);

  constructor(rows: number) {
    this.#headOf = new Float64Array(rows);
    this.#deltaOf = new Float64Array(rows);
  }

  put(row: number, message: Metadata): void {
    const heads = this.#heads;
    const oldest = Math.max(0, heads.length - comparedCount);
    for (let place = heads.length - 1; place >= oldest; place--) {
      const head = heads[place] as Head;
      if (!areAlike(head, message)) continue;
      const delta = this.#writer.write(head, message);
      if (delta < 0) continue;
      this.#headOf[row] = place;
      this.#deltaOf[row] = delta;
      return;
    }
    this.#headOf[row] = heads.push(new Head(message)) - 1;
  }

  get rows(): MetadataRows {
    return new MetadataRows(this.#heads, Series.of(this.#headOf), Series.of(this.#deltaOf), this.#writer.written);
  }
}

/** Where the body of a row is. */
export const enum Kind {
  /** In the bytes of the page. */
  Copied,
  /** In memory: the page refers to it, because other queues may have it as well. */
  Shared,
  /** In the store. */
  Stored,
  /** None: the row is an entry that cannot be written as numbers. */
  Entry,
}

/** Bodies of up to this many bytes are copied. A copy in each of many queues takes no more memory than their entries did. */
const maxCopied = 96;

/** The rows of a page, column by column. */
export interface PageColumns {
  readonly rows: number;
  readonly positions: Series;
  readonly deadlines: Series;
  readonly returns: Series;
  readonly failures: Series;
  readonly metadata: MetadataRows;
  readonly kinds: Series;
  /** Bytes of the body. */
  readonly sizes: Series;
  /** By kind: where the body begins in the bytes, its place among the bodies, its number in the store, or the place of the entry. */
  readonly places: Series;
  readonly bytes: Uint8Array;
  readonly bodies: readonly Uint8Array[];
  readonly entries: readonly Entry[];
}

/** Makes columns row by row. */
class ColumnsBuilder {
  #row = 0;
  readonly #positions: Float64Array;
  readonly #deadlines: Float64Array;
  readonly #returns: Float64Array;
  readonly #failures: Float64Array;
  readonly #metadata: MetadataBuilder;
  readonly #kinds: Float64Array;
  readonly #sizes: Float64Array;
  readonly #places: Float64Array;
  readonly #bytes: Uint8Array;
  #end = 0;
  readonly #bodies: Uint8Array[] = [];
  readonly #entries: Entry[] = [];

  /** @param bytes the most bytes of all bodies that are copied */
  constructor(rows: number, bytes: number) {
    this.#positions = new Float64Array(rows);
    this.#deadlines = new Float64Array(rows);
    this.#returns = new Float64Array(rows);
    this.#failures = new Float64Array(rows);
    this.#metadata = new MetadataBuilder(rows);
    this.#kinds = new Float64Array(rows);
    this.#sizes = new Float64Array(rows);
    this.#places = new Float64Array(rows);
    this.#bytes = new Uint8Array(bytes);
  }

  get columns(): PageColumns {
    const { length } = this.#bytes;
    return {
      rows: this.#row,
      positions: Series.of(this.#positions),
      deadlines: Series.of(this.#deadlines),
      returns: Series.of(this.#returns),
      failures: Series.of(this.#failures),
      metadata: this.#metadata.rows,
      kinds: Series.of(this.#kinds),
      sizes: Series.of(this.#sizes),
      places: Series.of(this.#places),
      bytes: this.#end === length ? this.#bytes : this.#bytes.slice(0, this.#end),
      bodies: this.#bodies,
      entries: this.#entries,
    };
  }

  entry(entry: Entry): void {
    this.#positions[this.#row] = entry.position;
    this.#kinds[this.#row] = Kind.Entry;
    this.#places[this.#row++] = this.#entries.push(entry) - 1;
  }

  stored(at: RowFacts, metadata: Metadata, size: number, number: number): void {
    this.#add(at, metadata, Kind.Stored, size, number);
  }

  shared(at: RowFacts, metadata: Metadata, body: Uint8Array): void {
    this.#add(at, metadata, Kind.Shared, body.length, this.#bodies.push(body) - 1);
  }

  /** @param from where the body begins in these bytes */
  copied(at: RowFacts, metadata: Metadata, bytes: Uint8Array, from: number, size: number): void {
    this.#add(at, metadata, Kind.Copied, size, this.#end);
    // For this few bytes a loop is faster than a call.
    for (let index = 0; index < size; index++) this.#bytes[this.#end + index] = bytes[from + index] as number;
    this.#end += size;
  }

  #add(at: RowFacts, metadata: Metadata, kind: Kind, size: number, place: number): void {
    const row = this.#row++;
    this.#positions[row] = at.position;
    this.#deadlines[row] = at.deadline;
    this.#returns[row] = at.returns;
    this.#failures[row] = at.failures;
    this.#metadata.put(row, metadata);
    this.#kinds[row] = kind;
    this.#sizes[row] = size;
    this.#places[row] = place;
  }
}

type RowFacts = Pick<Entry, 'position' | 'deadline' | 'returns' | 'failures'>;

/** Makes columns of the first entries of a line, and removes them from it. Entries that the packer refuses stay entries. */
export function columnsOf(line: Deque<Entry>, rows: number, packer: Packer): PageColumns {
  let bytes = 0;
  for (let row = 0; row < rows; row++) bytes += copiedBytes((line.at(row) as Entry).message);
  const builder = new ColumnsBuilder(rows, bytes);
  for (let row = 0; row < rows; row++) {
    const entry = line.shift() as Entry;
    const { message } = entry;
    if (!packer.fits(entry)) builder.entry(entry);
    else if (entry.slot !== undefined)
      builder.stored(entry, message, message.size, (packer.store as RowStore).forget(entry));
    else if (message.size <= maxCopied) builder.copied(entry, message, message.body, 0, message.size);
    else builder.shared(entry, message, message.body);
  }
  return builder.columns;
}

const copiedBytes = (message: Message): number => (message.isLoaded && message.size <= maxCopied ? message.size : 0);

/** New columns with some rows of a page, in this order. */
export function selectRows(columns: PageColumns, rows: readonly number[]): PageColumns {
  const { sizes, kinds, places, bytes, bodies, entries } = columns;
  const builder = new ColumnsBuilder(rows.length, bytes.length);
  for (const row of rows) {
    const kind = kinds.at(row) as Kind;
    const place = places.at(row);
    if (kind === Kind.Entry) {
      builder.entry(entries[place] as Entry);
      continue;
    }
    const metadata = columns.metadata.at(row);
    const at = {
      position: columns.positions.at(row),
      deadline: columns.deadlines.at(row),
      returns: columns.returns.at(row),
      failures: columns.failures.at(row),
    };
    if (kind === Kind.Stored) builder.stored(at, metadata, sizes.at(row), place);
    else if (kind === Kind.Copied) builder.copied(at, metadata, bytes, place, sizes.at(row));
    else builder.shared(at, metadata, bodies[place] as Uint8Array);
  }
  return builder.columns;
}
