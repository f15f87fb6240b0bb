import type { RetainedDeath } from '../../engine/broker/index.js';
import {
  compact,
  type DeathEntry,
  type DeathReason,
  deathReasons,
  type Field,
  type FieldTable,
  RecordedDeaths,
} from '../../engine/message/index.js';
import type { ByteSink, ByteSource } from './bytes.js';

/** Writes the number of fields, then name, type and value of each. Every type is read as it was (rule H4). */
export function writeTable(to: ByteSink, table: FieldTable): void {
  to.varint(table.size);
  for (const [name, field] of table) {
    to.text(name);
    writeField(to, field);
  }
}

export function readTable(from: ByteSource): FieldTable {
  const table = new Map<string, Field>();
  for (let left = from.varint(); left > 0; left--) table.set(from.text(), readField(from));
  return table;
}

function writeField(to: ByteSink, field: Field): void {
  to.octet(field.type.charCodeAt(0));
  switch (field.type) {
    case 't':
      return to.octet(field.value ? 1 : 0);
    case 'S':
      return to.text(field.value);
    case 'l':
    case 'T':
      return writeLong(to, field.value);
    case 'D':
      to.octet(field.value.scale);
      return to.double(field.value.value);
    case 'x':
      return to.octets(field.value);
    case 'A':
      to.varint(field.value.length);
      for (const item of field.value) writeField(to, item);
      return undefined;
    case 'F':
      return writeTable(to, field.value);
    case 'V':
      return undefined;
    default:
      return to.double(field.value);
  }
}

function readField(from: ByteSource): Field {
  const type = String.fromCharCode(from.octet()) as Field['type'];
  switch (type) {
    case 't':
      return { type, value: from.octet() !== 0 };
    case 'S':
      return { type, value: from.text() };
    case 'l':
    case 'T':
      return { type, value: readLong(from) };
    case 'D':
      return { type, value: { scale: from.octet(), value: from.double() } };
    case 'x':
      return { type, value: from.octets() };
    case 'A': {
      const items: Field[] = [];
      for (let left = from.varint(); left > 0; left--) items.push(readField(from));
      return { type, value: items };
    }
    case 'F':
      return { type, value: readTable(from) };
    case 'V':
      return { type, value: undefined };
    default:
      return { type, value: from.double() };
  }
}

/** A number is read as a number, a bigint as a bigint. Unsigned values may be beyond int64. */
export function writeLong(to: ByteSink, value: number | bigint): void {
  if (typeof value === 'number') {
    to.octet(0);
    return to.double(value);
  }
  const isUnsigned = value > 0x7fff_ffff_ffff_ffffn;
  to.octet(isUnsigned ? 2 : 1);
  to.int64(BigInt.asIntN(64, value));
}

export function readLong(from: ByteSource): number | bigint {
  const kind = from.octet();
  if (kind === 0) return from.double();
  return kind === 1 ? from.int64() : BigInt.asUintN(64, from.int64());
}

export function writeTexts(to: ByteSink, list: readonly string[]): void {
  to.varint(list.length);
  for (const text of list) to.text(text);
}

export const readTexts = (from: ByteSource): string[] => Array.from({ length: from.varint() }, () => from.text());

export function writeHeaders(to: ByteSink, headers: FieldTable): void {
  to.octet(0); // earlier formats had other kinds
  writeTable(to, headers);
}

export function readHeaders(from: ByteSource): FieldTable | undefined {
  from.octet();
  return compact(readTable(from));
}

/** Writes deaths that the broker recorded. A history that a client began is in the headers. */
export function writeDeaths(to: ByteSink, { all, first, last, parsesExpiration }: RecordedDeaths): void {
  to.octet(parsesExpiration ? 1 : 0);
  to.varint(all.length);
  for (const death of all) {
    to.varint(death.count);
    writeDeath(to, death);
  }
  writeKnown(to, first, all);
  writeKnown(to, last, all);
}

export function readDeaths(from: ByteSource): RecordedDeaths {
  const parsesExpiration = from.octet() === 1;
  const all: DeathEntry[] = [];
  for (let left = from.varint(); left > 0; left--) {
    const count = from.varint();
    all.push(readDeath(from, count));
  }
  const first = readKnown(from, all) as DeathEntry;
  const last = readKnown(from, all);
  return new RecordedDeaths(all, first, last, parsesExpiration);
}

/** Writes a death: 0 for none, 2 + index for one of the known deaths, which is usual, or 1 and then the death. */
function writeKnown(to: ByteSink, death: DeathEntry | undefined, deaths: readonly DeathEntry[]): void {
  if (death === undefined) return to.varint(0);
  const index = deaths.indexOf(death);
  to.varint(index < 0 ? 1 : index + 2);
  if (index < 0) writeDeath(to, death);
}

function readKnown(from: ByteSource, deaths: readonly DeathEntry[]): DeathEntry | undefined {
  const kind = from.varint();
  if (kind === 0) return undefined;
  return kind === 1 ? readDeath(from, 1) : deaths[kind - 2];
}

function writeDeath(
  to: ByteSink,
  { queue, reason, exchange, routingKeys, time, originalExpiration }: DeathEntry,
): void {
  to.octet(deathReasons.indexOf(reason as DeathReason));
  to.text(queue);
  to.text(exchange);
  writeTexts(to, routingKeys);
  to.double(time / 1000);
  to.octet(originalExpiration === undefined ? 0 : 1);
  if (originalExpiration !== undefined) to.text(originalExpiration);
}

function readDeath(from: ByteSource, count: number): DeathEntry {
  const reason = deathReasons[from.octet()] as DeathReason;
  const queue = from.text();
  const exchange = from.text();
  const routingKeys = readTexts(from);
  const time = from.double() * 1000;
  const death = { queue, reason, exchange, routingKeys, count, time };
  return from.octet() === 0 ? death : { ...death, originalExpiration: from.text() };
}

/** Writes reason, time, and the headers if there are any. */
export function writeRetained(to: ByteSink, { reason, time, headers }: RetainedDeath): void {
  to.octet(deathReasons.indexOf(reason));
  to.double(time);
  if (headers !== undefined) writeHeaders(to, headers);
}

export function readRetained(from: ByteSource, hasHeaders: boolean): RetainedDeath {
  const reason = deathReasons[from.octet()] as DeathReason;
  const time = from.double();
  return { reason, time, headers: hasHeaders ? readHeaders(from) : undefined };
}
