import { type Field, type FieldTable, fieldTypeNames } from '../../engine/message/index.js';

/** Constants of `erlang:phash2`: the golden ratio, and a multiple of it for each kind of term. */
const golden = 0x9e3779b9;
const kinds = {
  nil: 0x3c6ef372,
  atom: 0xdaa66d2b,
  tuple: 0x8ff34781,
  negative: 0x2e2ac13a,
  positive: 0xcc623af3,
  float: 0x6a99b4ac,
  binary: 0x08d12e65,
} as const;

/** The value that is mixed in for the empty list. */
const nil = 2;

const utf8 = new TextEncoder();

/**
 * `erlang:phash2` of binding arguments in RabbitMQ's form: a list of {Name, Type, Value}, sorted by name. It
 * distinguishes bindings with the same key in `properties_key`.
 * @returns 32 bits, unsigned
 */
export function hashOfTable(table: FieldTable): number {
  const hash = new TermHash();
  hash.table([...table].sort(([one], [other]) => Buffer.compare(utf8.encode(one), utf8.encode(other))));
  return hash.value >>> 0;
}

/** One hash over all parts of a term, in the order in which Erlang visits them. */
class TermHash {
  value = 0;

  table(entries: Iterable<readonly [string, Field]>): void {
    for (const [name, field] of entries) {
      this.#mix(3, 0, kinds.tuple);
      this.#bytes(utf8.encode(name));
      this.#typed(field);
    }
    this.#mix(nil, 0, kinds.nil);
  }

  #typed(field: Field): void {
    this.#atom(fieldTypeNames[field.type]);
    switch (field.type) {
      case 'S':
        return this.#bytes(utf8.encode(field.value));
      case 'x':
        return this.#bytes(field.value);
      case 't':
        return this.#atom(String(field.value));
      case 'V':
        return this.#atom('undefined');
      case 'f':
      case 'd':
        return this.#float(field.value);
      case 'F':
        return this.table(field.value);
      case 'A':
        for (const each of field.value) {
          this.#mix(2, 0, kinds.tuple);
          this.#typed(each);
        }
        return this.#mix(nil, 0, kinds.nil);
      case 'D':
        this.#mix(2, 0, kinds.tuple);
        this.#integer(field.value.scale);
        return this.#integer(field.value.value);
      default:
        return this.#integer(field.value);
    }
  }

  #atom(name: string): void {
    let hash = 0;
    for (const byte of utf8.encode(name)) {
      hash = (hash << 4) + byte;
      const high = hash & 0xf0000000;
      if (high !== 0) hash ^= (high >>> 24) ^ high;
    }
    this.#mix(hash, 0, kinds.atom);
  }

  /**
   * Integers of up to 28 bits are small integers on every Erlang platform, and are hashed in another way than larger
   * ones.
   */
  #integer(value: number | bigint): void {
    if (value >= -0x8000000 && value < 0x8000000) {
      const small = Number(value);
      if (small < 0) this.#mix(-small, 0, golden);
      return this.#mix(small, 0, golden);
    }
    const magnitude = value < 0 ? -BigInt(value) : BigInt(value);
    this.#mix(Number(magnitude & 0xffffffffn), Number(magnitude >> 32n), value < 0 ? kinds.negative : kinds.positive);
  }

  #float(value: number): void {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value === 0 ? 0 : value);
    this.#mix(view.getUint32(0), view.getUint32(4), kinds.float);
  }

  #bytes(bytes: Uint8Array): void {
    const { length } = bytes;
    const start = (kinds.binary + this.value) | 0;
    if (length === 0) return void (this.value = start);
    const word = (at: number): number =>
      (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    let state: State = [golden, golden, start];
    let at = 0;
    for (; length - at >= 12; at += 12) {
      state = mixed(state[0] + word(at), state[1] + word(at + 4), state[2] + word(at + 8));
    }
    // The rest of the third word is above the lowest byte, which has the length.
    this.value = mixed(state[0] + word(at), state[1] + word(at + 4), state[2] + length + (word(at + 8) << 8))[2];
  }

  #mix(one: number, other: number, kind: number): void {
    this.value = mixed(kind + one, kind + other, this.value)[2];
  }
}

type State = readonly [number, number, number];

/** Bob Jenkins' mix: nine steps that spread each bit over all others. */
function mixed(one: number, two: number, three: number): State {
  let a = one | 0;
  let b = two | 0;
  let c = three | 0;
  const round = (first: number, second: number, third: number): void => {
    a = (a - b - c) ^ (c >>> first);
    b = (b - c - a) ^ (a << second);
    c = (c - a - b) ^ (b >>> third);
  };
  round(13, 8, 13);
  round(12, 16, 5);
  round(3, 10, 15);
  return [a, b, c];
}
