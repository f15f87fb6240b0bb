import { readDelta } from './delta-reader.js';
import { areAlike, Head, type Metadata } from './metadata.js';
import { DeltaWriter } from './metadata-delta.js';
import { Series } from './series.js';
import { TableFields } from './table-fields.js';

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
