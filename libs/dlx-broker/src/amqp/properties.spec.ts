import { describe, expect, it } from 'vitest';
import {
  DeadLetteredMessage,
  type Death,
  type Field,
  Message,
  modernDialect,
  type Properties,
  recordDeath,
} from '../message/index.js';
import { ByteReader, Malformed } from './frame/byte-reader.js';
import { ByteWriter, PackedTable } from '../message/index.js';
import { readTable } from './field-table.js';
import { HeaderWriter, headerPrefix, PropertiesReader, ReceivedProperties } from './properties.js';

function encoded(properties: Properties): Buffer {
  const to = new ByteWriter(Buffer.alloc(0));
  new HeaderWriter().write(to, new Message('', '', properties, Buffer.alloc(0)));
  return to.written.subarray(headerPrefix);
}

const nested: Field = { type: 'F', value: new Map([['a', { type: 'A', value: [{ type: 'V', value: undefined }] }]]) };
const headers = new Map<string, Field>([
  ['z', { type: 's', value: -5 }],
  ['a', { type: 'l', value: 2n ** 62n }],
  ['T', { type: 'T', value: 2n ** 63n + 1n }],
  ['S', { type: 'S', value: '\udcff\udc80 bytes' }],
  ['nested', nested],
  ['__proto__', { type: 'I', value: 1 }],
]);
const all: Properties = {
  contentType: 'a',
  contentEncoding: 'b',
  headers,
  deliveryMode: 2,
  priority: 255,
  correlationId: 'c',
  replyTo: 'd',
  expiration: '1',
  messageId: 'e',
  timestamp: 5,
  type: 'f',
  userId: 'g',
  appId: 'h',
  clusterId: 'i',
};

describe('the properties of a message', () => {
  it('come back as they were, all fourteen or any of them (rules H4, T8)', () => {
    // Headers stay bytes until they are walked through.
    const seen = (value: unknown): unknown => (value instanceof PackedTable ? new Map(value) : value);
    const fieldsOf = (read: ReceivedProperties): unknown[] =>
      Object.entries(read).flatMap(([name, value]) => (value === undefined ? [] : [[name, seen(value)]]));
    expect(Object.fromEntries(fieldsOf(new ReceivedProperties(encoded(all))) as [string, unknown][])).toEqual(all);
    for (const name of Object.keys(all) as (keyof Properties)[]) {
      const read = new ReceivedProperties(encoded({ [name]: all[name] }));
      expect(fieldsOf(read)).toEqual([[name, all[name]]]);
    }
  });

  it('go out byte for byte while nobody changed them, even where decoding loses something (rule H4)', () => {
    // Twice the same name, and a true that is not 1.
    const table = Buffer.from([1, 0x61, 0x74, 7, 1, 0x61, 0x74, 9]);
    const bytes = Buffer.concat([Buffer.from([0x20, 0, 0, 0, 0, table.length]), table]);
    const received = new ReceivedProperties(Buffer.from(bytes));
    expect(encoded(received)).toEqual(bytes);
    expect(encoded({ ...received })).not.toEqual(bytes);
  });

  it('are read once as long as they stay the same', () => {
    const reader = new PropertiesReader();
    const bytes = encoded(all);
    const first = reader.read(bytes, 0, bytes.length);
    expect(reader.read(Buffer.from(bytes), 0, bytes.length)).toBe(first);
    const other = encoded({ ...all, priority: 1 });
    expect(reader.read(other, 0, other.length).priority).toBe(1);
  });

  it.each([
    ['too few', Buffer.from([0x80, 0])],
    ['too many', Buffer.from([0x10, 0, 1, 2])],
    ['an unknown type', Buffer.from([0x20, 0, 0, 0, 0, 3, 1, 0x61, 0x5a])],
  ])('with %s bytes are an internal error, as RabbitMQ has it', (_, bytes) => {
    expect(() => new PropertiesReader().read(bytes, 0, bytes.length)).toThrow(
      expect.objectContaining({ code: 541, closes: 'connection' }),
    );
  });
});

describe('a field table', () => {
  const nest = (depth: number): Buffer => {
    let table = Buffer.from([0, 0, 0, 0]);
    for (let level = 1; level < depth; level++) {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(table.length + 3);
      table = Buffer.concat([length, Buffer.from([1, 0x61, 0x46]), table]);
    }
    return table;
  };

  it('may be 64 deep and no deeper', () => {
    expect(readTable(new ByteReader(nest(64))).size).toBe(1);
    expect(() => readTable(new ByteReader(nest(65)))).toThrow(Malformed);
    expect(() => readTable(new ByteReader(nest(5_000)))).toThrow(Malformed);
  });

  it('takes an L for an l (rule T8)', () => {
    const bytes = Buffer.from([0, 0, 0, 11, 1, 0x61, 0x4c, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]);
    expect(readTable(new ByteReader(bytes)).get('a')).toEqual({ type: 'l', value: -2 });
  });

  it('reaches no further than it says', () => {
    const bytes = Buffer.from([0, 0, 0, 4, 1, 0x61, 0x49, 0, 0, 0, 5]);
    expect(() => readTable(new ByteReader(bytes))).toThrow(Malformed);
  });
});

describe('the headers of dead letters', () => {
  const death: Death = { queue: 'q', reason: 'rejected', exchange: '', routingKeys: ['k'], time: 1 };
  const own = new Map<string, Field>([['own', { type: 'I', value: 1 }]]);
  const once = recordDeath(own, death);
  const others = {
    'in another queue': recordDeath(own, { ...death, queue: 'other' }),
    'for another reason': recordDeath(own, { ...death, reason: 'expired' }),
    'from another exchange': recordDeath(own, { ...death, exchange: 'x' }),
    'by another key': recordDeath(own, { ...death, routingKeys: ['other'] }),
    'by more keys': recordDeath(own, { ...death, routingKeys: ['k', 'cc'] }),
    'a second later': recordDeath(own, { ...death, time: 2 }),
    'with an expiration': recordDeath(own, { ...death, originalExpiration: '5' }),
    twice: recordDeath(once, death),
    'twice, here and elsewhere': recordDeath(once, { ...death, queue: 'other' }),
    'with headers of its own': recordDeath(new Map(), death),
    'under RabbitMQ 4': recordDeath(own, death, modernDialect),
  };
  const writtenBy = (writer: HeaderWriter, properties: Properties): Buffer => {
    const to = new ByteWriter(Buffer.alloc(0));
    writer.write(to, new DeadLetteredMessage('', '', properties, Buffer.alloc(0)));
    return to.written;
  };
  const written = (writer: HeaderWriter, headers: Properties['headers']): Buffer => writtenBy(writer, { headers });

  it('are the same bytes for the same death (rule H5)', () => {
    const writer = new HeaderWriter();
    const first = written(writer, once);
    expect(written(writer, recordDeath(own, { ...death }))).toEqual(first);
    expect(written(new HeaderWriter(), once)).toEqual(first);
  });

  it('are the same bytes for all that share them', () => {
    const properties = { messageId: 'one', headers: once };
    const writer = new HeaderWriter();
    const bytes = [1, 2, 3].map(() => writtenBy(writer, properties));
    const other = writtenBy(writer, { ...properties, messageId: 'two' });
    expect(bytes).toEqual([1, 2, 3].map(() => writtenBy(new HeaderWriter(), properties)));
    expect(other).not.toEqual(bytes[0]);
    expect(writtenBy(writer, properties)).toEqual(bytes[0]);
  });

  it.each(Object.entries(others))('are others for one that died %s (rules H5 to H8)', (_, headers) => {
    const writer = new HeaderWriter();
    const before = written(writer, once);
    const bytes = written(writer, headers);
    expect(bytes).toEqual(written(new HeaderWriter(), headers));
    expect(bytes).not.toEqual(before);
    expect(written(writer, once)).toEqual(before);
  });
});
