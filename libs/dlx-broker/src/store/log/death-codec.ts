import type { RetainedDeath } from '../../engine/broker/index.js';
import {
  compact,
  type DeathEntry,
  type DeathReason,
  type FieldTable,
  RecordedDeaths,
} from '../../engine/message/index.js';
import type { ByteSink } from './byte-sink.js';
import type { ByteSource } from './byte-source.js';
import { readTable, readTexts, writeTable, writeTexts } from './field-codec.js';

const reasons: readonly DeathReason[] = ['rejected', 'expired', 'maxlen', 'delivery_limit'];

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
export interface ReadHeaders {
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
  to.octet(reasons.indexOf(reason as DeathReason));
  to.text(queue);
  to.text(exchange);
  writeTexts(to, routingKeys);
  to.double(time / 1000);
  to.octet(originalExpiration === undefined ? 0 : sent);
  if (originalExpiration !== undefined) to.text(originalExpiration);
}

function readDeath(source: Source, count: number): DeathEntry {
  const { from } = source;
  const reason = reasons[from.octet()] as DeathReason;
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
  to.octet(reasons.indexOf(reason));
  to.double(time);
  if (headers !== undefined) writeHeaders(to, headers);
}

export function readRetained(from: ByteSource, hasHeaders: boolean): RetainedDeath {
  const reason = reasons[from.octet()] as DeathReason;
  const time = from.double();
  return { reason, time, headers: hasHeaders ? wholeHeaders(readHeaders(from)) : undefined };
}
