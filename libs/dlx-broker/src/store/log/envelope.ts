import {
  ClaimedDeaths,
  type Deaths,
  emptyTable,
  type Message,
  Notes,
  type Properties,
  RecordedDeaths,
  type RecordedOrigin,
} from '../../engine/message/index.js';
import type { ByteSink, ByteSource } from './bytes.js';
import {
  readDeaths,
  readHeaders,
  readLong,
  readTexts,
  wholeHeaders,
  writeDeaths,
  writeHeaders,
  writeLong,
  writeTexts,
} from './death-codec.js';

/** A message without its body. */
export interface Envelope {
  readonly exchange: string;
  readonly routingKey: string;
  readonly own: Properties;
  readonly notes: Notes | undefined;
}

const died = 1;
const copied = 2;
/** The recorded origin follows. */
const traced = 4;
/** The origin is the address of the first death. */
const tracedByDeath = 8;
/** The origin has a queue. */
const failed = 16;
/** The delay that is over follows. */
const delayed = 32;
/** The records of its deaths follow. A message that died without this flag has its deaths in the headers. */
const recorded = 64;

/** A bit for each property that is present. */
const texts = ['contentType', 'contentEncoding', 'correlationId', 'replyTo', 'expiration', 'messageId'] as const;
const moreTexts = ['type', 'userId', 'appId', 'clusterId'] as const;
const bits = {
  ...bitsOf(texts, 0),
  ...bitsOf(moreTexts, texts.length),
  headers: 1 << 10,
  deliveryMode: 1 << 11,
  priority: 1 << 12,
  timestamp: 1 << 13,
};

function bitsOf<Name extends string>(names: readonly Name[], from: number): Record<Name, number> {
  return Object.fromEntries(names.map((name, index) => [name, 1 << (from + index)])) as Record<Name, number>;
}

/**
 * Writes flags, exchange, routing key and properties; then the notes: carbon copies, deaths, delay, origin.
 */
export function writeEnvelope(to: ByteSink, { exchange, routingKey, own, notes }: Message): void {
  const deaths = notes?.deaths instanceof RecordedDeaths ? notes.deaths : undefined;
  const kind = notes === undefined ? 0 : kindOf(notes);
  to.octet(kind | (deaths === undefined ? 0 : recorded));
  to.text(exchange);
  to.text(routingKey);
  writeProperties(to, own);
  if (notes === undefined) return;
  if (notes.copies !== undefined) {
    writeTexts(to, notes.copies.cc);
    writeTexts(to, notes.copies.bcc);
  }
  if (deaths !== undefined) writeDeaths(to, deaths);
  if (notes.delay !== 0) to.varint(notes.delay);
  if ((kind & traced) !== 0) writeOrigin(to, notes.origin as RecordedOrigin);
}

const kindOf = ({ copies, origin, deaths, delay }: Notes): number =>
  (deaths === undefined ? 0 : died) |
  (copies === undefined ? 0 : copied) |
  (delay === 0 ? 0 : delayed) |
  (origin === undefined ? 0 : originKind(origin, deaths));

/** The origin is mostly that of the first death, which is written already. */
function originKind(origin: RecordedOrigin, deaths: Deaths | undefined): number {
  const first = originByDeath(deaths);
  const isSame =
    first?.exchange === origin.exchange && first.routingKey === origin.routingKey && first.queue === origin.queue;
  return isSame ? tracedByDeath : traced | (origin.queue === undefined ? 0 : failed);
}

function writeOrigin(to: ByteSink, { exchange, routingKey, queue }: RecordedOrigin): void {
  to.text(exchange);
  to.text(routingKey);
  if (queue !== undefined) to.text(queue);
}

/** The address and queue of the first death, if the broker recorded all deaths. */
function originByDeath(deaths: Deaths | undefined): RecordedOrigin | undefined {
  if (deaths?.first === undefined) return undefined;
  const { exchange, routingKeys, queue } = deaths.first;
  return { exchange, routingKey: routingKeys[0] ?? '', queue };
}

/**
 * Formats 1 and 2 have no origins. A message that died has the address of its first death, which the broker recorded. But if
 * the header that retries wrote then names an earlier address, the origin is unknown: a client may have written it.
 */
const originBefore = (deaths: Deaths | undefined, { headers }: Properties): RecordedOrigin | undefined =>
  headers?.has('dlx-first-exchange') === true ? undefined : originByDeath(deaths);

export function readEnvelope(from: ByteSource): Envelope {
  const flags = from.octet();
  const exchange = from.text();
  const routingKey = from.text();
  const { own, deaths: written } = readProperties(from, (flags & died) !== 0);
  const copies = (flags & copied) === 0 ? undefined : { cc: readTexts(from), bcc: readTexts(from) };
  const deaths = (flags & died) === 0 ? undefined : readHistory();
  const delay = (flags & delayed) === 0 ? 0 : from.varint();
  const origin = readOrigin() ?? originBefore(deaths, own);
  const isNoted = copies !== undefined || deaths !== undefined || delay !== 0 || origin !== undefined;
  return { exchange, routingKey, own, notes: isNoted ? Notes.of(copies, origin, deaths, delay) : undefined };

  function readHistory(): Deaths {
    return (flags & recorded) === 0 ? (written ?? new ClaimedDeaths(own.headers ?? emptyTable)) : readDeaths(from);
  }

  function readOrigin(): RecordedOrigin | undefined {
    if ((flags & tracedByDeath) !== 0) return originByDeath(deaths);
    if ((flags & traced) === 0) return undefined;
    return { exchange: from.text(), routingKey: from.text(), queue: (flags & failed) === 0 ? undefined : from.text() };
  }
}

function writeProperties(to: ByteSink, properties: Properties): void {
  const { headers, deliveryMode, priority, timestamp } = properties;
  let present = 0;
  for (const name of texts) if (properties[name] !== undefined) present |= bits[name];
  for (const name of moreTexts) if (properties[name] !== undefined) present |= bits[name];
  if (headers !== undefined) present |= bits.headers;
  if (deliveryMode !== undefined) present |= bits.deliveryMode;
  if (priority !== undefined) present |= bits.priority;
  if (timestamp !== undefined) present |= bits.timestamp;
  to.varint(present);
  for (const name of texts) if (properties[name] !== undefined) to.text(properties[name]);
  for (const name of moreTexts) if (properties[name] !== undefined) to.text(properties[name]);
  if (headers !== undefined) writeHeaders(to, headers);
  if (deliveryMode !== undefined) to.octet(deliveryMode);
  if (priority !== undefined) to.octet(priority);
  if (timestamp !== undefined) writeLong(to, timestamp);
}

/** With the deaths that formats 1 to 3 wrote among the headers of a message that died. */
function readProperties(from: ByteSource, hasDied: boolean): { own: Properties; deaths: RecordedDeaths | undefined } {
  const present = from.varint();
  const properties: { -readonly [name in keyof Properties]: Properties[name] } = {};
  for (const name of texts) if ((present & bits[name]) !== 0) properties[name] = from.text();
  for (const name of moreTexts) if ((present & bits[name]) !== 0) properties[name] = from.text();
  const read = (present & bits.headers) === 0 ? undefined : readHeaders(from);
  const headers = read === undefined || hasDied ? read?.headers : wholeHeaders(read);
  if (headers !== undefined) properties.headers = headers;
  if ((present & bits.deliveryMode) !== 0) properties.deliveryMode = from.octet();
  if ((present & bits.priority) !== 0) properties.priority = from.octet();
  if ((present & bits.timestamp) !== 0) properties.timestamp = readLong(from);
  return { own: properties, deaths: read?.deaths };
}

interface Known {
  readonly bytes: Buffer;
  readonly envelope: Envelope;
}

const slots = 1024;
/** Longer envelopes, in bytes, are not cached: they are rarely equal. */
const maxCached = 512;

/** Reads envelopes, with a cache of recent ones: messages of a queue often have equal envelopes. */
export class EnvelopeReader {
  readonly #known: (Known | undefined)[] = new Array<Known | undefined>(slots);

  /** Reads an envelope with its length before it. */
  read(from: ByteSource): Envelope {
    const length = from.varint();
    const { bytes, at } = from;
    const end = at + length;
    if (length > maxCached) {
      const envelope = readEnvelope(from);
      from.at = end;
      return envelope;
    }
    let hash = length;
    for (let index = at; index < end; index++) hash = (Math.imul(hash, 31) + (bytes[index] as number)) | 0;
    const slot = hash & (slots - 1);
    const known = this.#known[slot];
    if (known !== undefined && known.bytes.length === length && isSame(known.bytes, bytes, at)) {
      from.at = end;
      return known.envelope;
    }
    const envelope = readEnvelope(from);
    from.at = end;
    this.#known[slot] = { bytes: Buffer.from(bytes.subarray(at, end)), envelope };
    return envelope;
  }
}

function isSame(known: Buffer, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < known.length; index++) if (known[index] !== bytes[at + index]) return false;
  return true;
}
