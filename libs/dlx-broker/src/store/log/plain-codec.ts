import type { ByteSink, ByteSource } from './bytes.js';

/** The plain data of a change of the topology. */
export type Plain =
  | undefined
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly Plain[]
  | ReadonlyMap<Plain, Plain>
  | { readonly [name: string]: Plain };

/** First byte of each value. */
const kinds = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  number: 4,
  bigint: 5,
  text: 6,
  octets: 7,
  list: 8,
  map: 9,
  object: 10,
} as const;

export function writePlain(to: ByteSink, value: Plain): void {
  switch (typeof value) {
    case 'undefined':
      return to.octet(kinds.undefined);
    case 'boolean':
      return to.octet(value ? kinds.true : kinds.false);
    case 'number':
      to.octet(kinds.number);
      return to.double(value);
    case 'bigint':
      to.octet(kinds.bigint);
      return to.text(String(value));
    case 'string':
      to.octet(kinds.text);
      return to.text(value);
    default:
      return writeStructure(to, value);
  }
}

function writeStructure(to: ByteSink, value: Exclude<Plain, undefined | boolean | number | bigint | string>): void {
  if (value === null) {
    to.octet(kinds.null);
  } else if (value instanceof Uint8Array) {
    to.octet(kinds.octets);
    to.octets(value);
  } else if (value instanceof Map) {
    to.octet(kinds.map);
    to.varint(value.size);
    for (const [name, item] of value as ReadonlyMap<Plain, Plain>) {
      writePlain(to, name);
      writePlain(to, item);
    }
  } else if (Array.isArray(value)) {
    to.octet(kinds.list);
    to.varint(value.length);
    for (const item of value as readonly Plain[]) writePlain(to, item);
  } else {
    const entries = Object.entries(value);
    to.octet(kinds.object);
    to.varint(entries.length);
    for (const [name, item] of entries) {
      to.text(name);
      writePlain(to, item);
    }
  }
}

export function readPlain(from: ByteSource): Plain {
  const kind = from.octet();
  switch (kind) {
    case kinds.null:
      return null;
    case kinds.false:
      return false;
    case kinds.true:
      return true;
    case kinds.number:
      return from.double();
    case kinds.bigint:
      return BigInt(from.text());
    case kinds.text:
      return from.text();
    case kinds.octets:
      return from.octets();
    case kinds.list:
      return Array.from({ length: from.varint() }, () => readPlain(from));
    case kinds.map: {
      const map = new Map<Plain, Plain>();
      for (let left = from.varint(); left > 0; left--) map.set(readPlain(from), readPlain(from));
      return map;
    }
    case kinds.object: {
      const entries: [string, Plain][] = [];
      for (let left = from.varint(); left > 0; left--) entries.push([from.text(), readPlain(from)]);
      return Object.fromEntries(entries); // defines properties, so `__proto__` is an ordinary name
    }
    default:
      return undefined;
  }
}
