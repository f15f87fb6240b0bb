import type { Properties } from '../../../libs/dlx-broker/src/engine/message/index.js';
import { Reader, Writer } from './bytes.js';
import { readTable, writeTable } from './field-table.js';

type Name = keyof Properties;

/** The order of the property flags, highest bit first, and how each is written. */
const layout: readonly (readonly [name: Name, kind: 'shortstr' | 'octet' | 'table' | 'int64'])[] = [
  ['contentType', 'shortstr'],
  ['contentEncoding', 'shortstr'],
  ['headers', 'table'],
  ['deliveryMode', 'octet'],
  ['priority', 'octet'],
  ['correlationId', 'shortstr'],
  ['replyTo', 'shortstr'],
  ['expiration', 'shortstr'],
  ['messageId', 'shortstr'],
  ['timestamp', 'int64'],
  ['type', 'shortstr'],
  ['userId', 'shortstr'],
  ['appId', 'shortstr'],
  ['clusterId', 'shortstr'],
];

/** The payload of a content header frame. */
export function writeContentHeader(properties: Properties, bodySize: number): Buffer {
  let flags = 0;
  const values = new Writer();
  layout.forEach(([name, kind], index) => {
    const value = properties[name];
    if (value === undefined) return;
    flags |= 1 << (15 - index);
    if (kind === 'table') writeTable(value as NonNullable<Properties['headers']>, values);
    else if (kind === 'octet') values.octet(value as number);
    else if (kind === 'int64') values.int64(value as number);
    else values.shortstr(value as string);
  });
  return new Writer().short(60).short(0).int64(bodySize).short(flags).bytes(values.end()).end();
}

export function readContentHeader(payload: Buffer): { readonly bodySize: number; readonly properties: Properties } {
  const from = new Reader(payload);
  from.short();
  from.short();
  const bodySize = Number(from.int64());
  const flags = from.short();
  const properties: Record<string, unknown> = {};
  layout.forEach(([name, kind], index) => {
    if ((flags & (1 << (15 - index))) === 0) return;
    properties[name] = kind === 'table' ? readTable(from) : from[kind]();
  });
  return { bodySize, properties: properties as Properties };
}
