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

/**
 * The first byte of headers. 0: a table follows. Formats 1 to 3 also have 1 and 2: deaths follow, without or with a table.
 */
const plain = 0;
const dead = 1;

export function writeHeaders(to: ByteSink, headers: FieldTable): void {
  to.octet(plain);
  writeTable(to, headers);
}

/** Headers, and the deaths that formats 1 to 3 have in them. */
interface ReadHeaders {
  readonly headers: FieldTable | undefined;
  readonly deaths: RecordedDeaths | undefined;
}

export function readHeaders(from: ByteSource): ReadHeaders {
  const kind = from.octet();
  if (kind === plain) return { headers: compact(readTable(from)), deaths: undefined };
  // A retry in the process could leave deaths on top of deaths.
  const headers = kind === dead ? undefined : wholeHeaders(readHeaders(from));
  return { headers, deaths: readRecords(from) };
}

/** The headers with the deaths written into them, for a message that has no flag of having died. */
export const wholeHeaders = ({ headers, deaths }: ReadHeaders): FieldTable | undefined =>
  deaths === undefined ? headers : compact(deaths.headers(headers, undefined));

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

export const readDeaths = (from: ByteSource): RecordedDeaths => readRecords(from, from.octet() === 1);

function readRecords(from: ByteSource, parsesExpiration = false): RecordedDeaths {
  const all: DeathEntry[] = [];
  const source = { from, isParsed: parsesExpiration };
  for (let left = from.varint(); left > 0; left--) {
    const count = from.varint();
    all.push(readDeath(source, count));
  }
  const first = readKnown(source, all) as DeathEntry;
  const last = readKnown(source, all);
  return new RecordedDeaths(all, first, last, source.isParsed);
}

interface Source {
  readonly from: ByteSource;
  /** Formats 1 to 3 say of each expiration whether it was parsed (rule W4). */
  isParsed: boolean;
}

/** Writes a death: 0 for none, 2 + index for one of the known deaths, which is usual, or 1 and then the death. */
function writeKnown(to: ByteSink, death: DeathEntry | undefined, deaths: readonly DeathEntry[]): void {
  if (death === undefined) return to.varint(0);
  const index = deaths.indexOf(death);
  to.varint(index < 0 ? 1 : index + 2);
  if (index < 0) writeDeath(to, death);
}

function readKnown(source: Source, deaths: readonly DeathEntry[]): DeathEntry | undefined {
  const kind = source.from.varint();
  if (kind === 0) return undefined;
  return kind === 1 ? readDeath(source, 1) : deaths[kind - 2];
}

/** Formats of an expiration: 0 for none, the text as it was sent, or the text to be parsed as a number. */
const sent = 1;
const parsed = 2;

function writeDeath(
  to: ByteSink,
  { queue, reason, exchange, routingKeys, time, originalExpiration }: DeathEntry,
): void {
  to.octet(deathReasons.indexOf(reason as DeathReason));
  to.text(queue);
  to.text(exchange);
  writeTexts(to, routingKeys);
  to.double(time / 1000);
  to.octet(originalExpiration === undefined ? 0 : sent);
  if (originalExpiration !== undefined) to.text(originalExpiration);
}

function readDeath(source: Source, count: number): DeathEntry {
  const { from } = source;
  const reason = deathReasons[from.octet()] as DeathReason;
  const queue = from.text();
  const exchange = from.text();
  const routingKeys = readTexts(from);
  const time = from.double() * 1000;
  const kind = from.octet();
  const death = { queue, reason, exchange, routingKeys, count, time };
  if (kind === 0) return death;
  if (kind === parsed) source.isParsed = true;
  const text = from.text();
  return { ...death, originalExpiration: kind === parsed ? String(Number(text)) : text };
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
  return { reason, time, headers: hasHeaders ? wholeHeaders(readHeaders(from)) : undefined };
}
