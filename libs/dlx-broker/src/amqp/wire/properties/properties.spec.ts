import { describe, expect, it } from 'vitest';
import { die } from '../../../../../../test/harnesses/die.js';
import { profiles } from '../../../engine/broker/index.js';
import {
  ByteReader,
  ByteWriter,
  type DeathEntry,
  type Field,
  Malformed,
  Message,
  NotedMessage,
  PackedTable,
  type Properties,
} from '../../../engine/message/index.js';
import { readTable } from '../method-reader.js';
import { HeaderWriter } from './header-writer.js';
import { headerPrefix, PropertiesReader, ReceivedProperties } from './received.js';

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

  it('go out byte for byte while they are unchanged, even where decoding loses something (rule H4)', () => {
    // Twice the same name, and a true that is not 1.
    const table = Buffer.from([1, 0x61, 0x74, 7, 1, 0x61, 0x74, 9]);
    const bytes = Buffer.concat([Buffer.from([0x20, 0, 0, 0, 0, table.length]), table]);
    const received = new ReceivedProperties(Buffer.from(bytes));
    expect(encoded(received)).toEqual(bytes);
    // A copy, as the row of a long queue gives it.
    expect(encoded({ ...received })).toEqual(bytes);
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
  const death: DeathEntry = { queue: 'q', reason: 'rejected', exchange: '', routingKeys: ['k'], count: 1, time: 1_000 };
  const headers = new Map<string, Field>([['own', { type: 'I', value: 1 }]]);
  const own = new Message('', '', { headers }, Buffer.alloc(0));
  const with5 = new Message('', '', { headers, expiration: '5' }, Buffer.alloc(0));
  const once = die(own, death);
  const others = {
    'in another queue': die(own, { ...death, queue: 'other' }),
    'for another reason': die(own, { ...death, reason: 'expired' }),
    'from another exchange': die(own, { ...death, exchange: 'x' }),
    'by another key': die(own, { ...death, routingKeys: ['other'] }),
    'by more keys': die(own, { ...death, routingKeys: ['k', 'cc'] }),
    'a second later': die(own, { ...death, time: 2_000 }),
    'with an expiration': die(with5, death),
    twice: die(once, death),
    'twice, here and elsewhere': die(once, { ...death, queue: 'other' }),
    'with headers of its own': die(new Message('', '', { headers: new Map() }, Buffer.alloc(0)), death),
    'under RabbitMQ 4': die(own, death, profiles['4']),
  };
  const written = (writer: HeaderWriter, message: Message): Buffer => {
    const to = new ByteWriter(Buffer.alloc(0));
    writer.write(to, message);
    return to.written;
  };

  it('are the same bytes for the same death (rule H5)', () => {
    const writer = new HeaderWriter();
    const first = written(writer, once);
    expect(written(writer, die(own, { ...death }))).toEqual(first);
    expect(written(new HeaderWriter(), once)).toEqual(first);
  });

  it('are the same bytes for all that share them', () => {
    const letter = new NotedMessage('', '', { ...once.own, messageId: 'one' }, Buffer.alloc(0), once.notes);
    const writer = new HeaderWriter();
    const bytes = [1, 2, 3].map(() => written(writer, letter));
    const second = new NotedMessage('', '', { ...letter.own, messageId: 'two' }, Buffer.alloc(0), once.notes);
    const other = written(writer, second);
    expect(bytes).toEqual([1, 2, 3].map(() => written(new HeaderWriter(), letter)));
    expect(other).not.toEqual(bytes[0]);
    expect(other).toEqual(written(new HeaderWriter(), second));
    expect(written(writer, letter)).toEqual(bytes[0]);
  });

  it('are others for one with another expiration of all that share a history (rule H5)', () => {
    const six = new Message('', '', { headers, expiration: '6' }, Buffer.alloc(0));
    const { notes } = die(with5, death);
    const [one, other] = [with5, six].map(({ own: mine }) => new NotedMessage('', '', mine, Buffer.alloc(0), notes));
    const writer = new HeaderWriter();
    const bytes = written(writer, one!);
    expect(written(writer, other!)).not.toEqual(bytes);
    expect(written(writer, one!)).toEqual(bytes);
    expect(written(writer, other!)).toEqual(written(new HeaderWriter(), die(six, death)));
  });

  it.each(Object.entries(others))('are others for one that died %s (rules H5 to H8)', (_, letter) => {
    const writer = new HeaderWriter();
    const before = written(writer, once);
    const bytes = written(writer, letter);
    expect(bytes).toEqual(written(new HeaderWriter(), letter));
    expect(bytes).not.toEqual(before);
    expect(written(writer, once)).toEqual(before);
  });
});
