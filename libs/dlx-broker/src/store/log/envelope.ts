import { type CarbonCopies, DeadHeaders, type FieldTable, type Message } from '../../message/index.js';
import { type Properties, type RecordedOrigin, retryHeaders } from '../../message/index.js';
import type { ByteSink } from './byte-sink.js';
import type { ByteSource } from './byte-source.js';
import { readLong, readTexts, writeLong, writeTexts } from './field-codec.js';
import { readHeaders, writeHeaders } from './headers-codec.js';

/** All of a message but its body. */
export interface Envelope {
  readonly exchange: string;
  readonly routingKey: string;
  readonly properties: Properties;
  readonly hasDied: boolean;
  readonly carbonCopies: CarbonCopies | undefined;
  readonly origin: RecordedOrigin | undefined;
}

const died = 1;
const copied = 2;
/** An origin was recorded, and follows. */
const traced = 4;
/** The origin is the address of the first death in the headers. */
const tracedByDeath = 8;
/** The origin has a queue. */
const failed = 16;

/** A bit for each property that is there; the headers have the third. */
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

/** Flags, exchange, routing key, properties, the keys of carbon copies if there are any, and an origin if there is one. */
export function writeEnvelope(to: ByteSink, message: Message): void {
  const { carbonCopies, origin } = message;
  const kind = kindOf(origin, message.properties.headers);
  to.octet((message.hasDied ? died : 0) | (carbonCopies === undefined ? 0 : copied) | kind);
  to.text(message.exchange);
  to.text(message.routingKey);
  writeProperties(to, message.properties);
  if (carbonCopies !== undefined) {
    writeTexts(to, carbonCopies.cc);
    writeTexts(to, carbonCopies.bcc);
  }
  if (origin === undefined || (kind & traced) === 0) return;
  to.text(origin.exchange);
  to.text(origin.routingKey);
  if (origin.queue !== undefined) to.text(origin.queue);
}

/** Mostly the origin is that of the first death, which stands there already. */
function kindOf(origin: RecordedOrigin | undefined, headers: FieldTable | undefined): number {
  if (origin === undefined) return 0;
  const first = originByDeath(headers);
  const isSame =
    first?.exchange === origin.exchange && first.routingKey === origin.routingKey && first.queue === origin.queue;
  return isSame ? tracedByDeath : traced | (origin.queue === undefined ? 0 : failed);
}

/** Where the first death in these headers met the message, if the broker recorded them all. */
function originByDeath(headers: FieldTable | undefined): RecordedOrigin | undefined {
  if (!(headers instanceof DeadHeaders)) return undefined;
  const { exchange, routingKeys, queue } = headers.first;
  return { exchange, routingKey: routingKeys[0] ?? '', queue };
}

/**
 * Formats 1 and 2 have no origins. What died tells of itself, for the records of its deaths are the broker's own; but not
 * when its headers tell of a place before, which may be true and may be a client's.
 */
function originBefore(hasDied: boolean, headers: FieldTable | undefined): RecordedOrigin | undefined {
  return hasDied && headers?.get(retryHeaders.firstExchange) === undefined ? originByDeath(headers) : undefined;
}

export function readEnvelope(from: ByteSource): Envelope {
  const flags = from.octet();
  const exchange = from.text();
  const routingKey = from.text();
  const properties = readProperties(from);
  const hasDied = (flags & died) !== 0;
  const carbonCopies = (flags & copied) === 0 ? undefined : { cc: readTexts(from), bcc: readTexts(from) };
  const origin = readOrigin() ?? originBefore(hasDied, properties.headers);
  return { exchange, routingKey, properties, hasDied, carbonCopies, origin };

  function readOrigin(): RecordedOrigin | undefined {
    if ((flags & tracedByDeath) !== 0) return originByDeath(properties.headers);
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

function readProperties(from: ByteSource): Properties {
  const present = from.varint();
  const properties: { -readonly [name in keyof Properties]: Properties[name] } = {};
  for (const name of texts) if ((present & bits[name]) !== 0) properties[name] = from.text();
  for (const name of moreTexts) if ((present & bits[name]) !== 0) properties[name] = from.text();
  if ((present & bits.headers) !== 0) properties.headers = readHeaders(from);
  if ((present & bits.deliveryMode) !== 0) properties.deliveryMode = from.octet();
  if ((present & bits.priority) !== 0) properties.priority = from.octet();
  if ((present & bits.timestamp) !== 0) properties.timestamp = readLong(from);
  return properties;
}
