import type { CarbonCopies, Message, Properties } from '../../message/index.js';
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
}

const died = 1;
const copied = 2;

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

/** Flags, exchange, routing key, properties, and the keys of carbon copies if there are any. */
export function writeEnvelope(to: ByteSink, message: Message): void {
  const { carbonCopies } = message;
  to.octet((message.hasDied ? died : 0) | (carbonCopies === undefined ? 0 : copied));
  to.text(message.exchange);
  to.text(message.routingKey);
  writeProperties(to, message.properties);
  if (carbonCopies === undefined) return;
  writeTexts(to, carbonCopies.cc);
  writeTexts(to, carbonCopies.bcc);
}

export function readEnvelope(from: ByteSource): Envelope {
  const flags = from.octet();
  return {
    exchange: from.text(),
    routingKey: from.text(),
    properties: readProperties(from),
    hasDied: (flags & died) !== 0,
    carbonCopies: (flags & copied) === 0 ? undefined : { cc: readTexts(from), bcc: readTexts(from) },
  };
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
