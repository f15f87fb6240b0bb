import { compact, type Death, DeadHeaders, type DeathReason, type FieldTable, Recorded } from '../../message/index.js';
import type { ByteSink } from './byte-sink.js';
import type { ByteSource } from './byte-source.js';
import { readTable, readTexts, writeTable, writeTexts } from './field-codec.js';

/** First byte: headers as they are, or the records of deaths from which headers are written when somebody looks. */
const plain = 0;
const dead = 1;
const deadWithOwn = 2;

export const reasons: readonly DeathReason[] = ['rejected', 'expired', 'maxlen', 'delivery_limit'];

/** Deaths on top of deaths, as a retry in this process leaves them; deeper ones are written out. */
const deepest = 8;

export function writeHeaders(to: ByteSink, headers: FieldTable, depth = 0): void {
  if (!(headers instanceof DeadHeaders) || depth === deepest) {
    to.octet(plain);
    return writeTable(to, headers);
  }
  const { base, deaths, first, last } = headers;
  to.octet(base === undefined ? dead : deadWithOwn);
  if (base !== undefined) writeHeaders(to, base, depth + 1);
  to.varint(deaths.length);
  for (const recorded of deaths) {
    to.varint(recorded.count);
    writeDeath(to, recorded.first);
  }
  writeKnown(to, first, deaths);
  writeKnown(to, last, deaths);
}

export function readHeaders(from: ByteSource): FieldTable {
  const kind = from.octet();
  if (kind === plain) return compact(readTable(from));
  const base = kind === dead ? undefined : readHeaders(from);
  const deaths: Recorded[] = [];
  for (let left = from.varint(); left > 0; left--) {
    const count = from.varint();
    deaths.push(new Recorded(readDeath(from), count));
  }
  const first = readKnown(from, deaths) as Death;
  return new DeadHeaders(base, deaths, first, readKnown(from, deaths));
}

/** Mostly it is one of the deaths: 2 and its place among them; else 1 and all of it, or 0 for none. */
function writeKnown(to: ByteSink, death: Death | undefined, deaths: readonly Recorded[]): void {
  if (death === undefined) return to.varint(0);
  const index = deaths.findIndex(({ first }) => first === death);
  to.varint(index < 0 ? 1 : index + 2);
  if (index < 0) writeDeath(to, death);
}

function readKnown(from: ByteSource, deaths: readonly Recorded[]): Death | undefined {
  const kind = from.varint();
  if (kind === 0) return undefined;
  return kind === 1 ? readDeath(from) : deaths[kind - 2]?.first;
}

function writeDeath(to: ByteSink, { queue, reason, exchange, routingKeys, time, originalExpiration }: Death): void {
  to.octet(reasons.indexOf(reason));
  to.text(queue);
  to.text(exchange);
  writeTexts(to, routingKeys);
  to.double(time);
  if (originalExpiration === undefined) return to.octet(0);
  to.octet(typeof originalExpiration === 'string' ? 1 : 2);
  to.text(String(originalExpiration));
}

function readDeath(from: ByteSource): Death {
  const reason = reasons[from.octet()] as DeathReason;
  const queue = from.text();
  const exchange = from.text();
  const routingKeys = readTexts(from);
  const time = from.double();
  const kind = from.octet();
  const text = kind === 0 ? '' : from.text();
  const originalExpiration = kind === 0 ? undefined : kind === 1 ? text : Number(text);
  return { queue, reason, exchange, routingKeys, time, originalExpiration };
}
