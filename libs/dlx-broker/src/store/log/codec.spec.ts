import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { die } from '../../../../../test/harnesses/die.js';
import { profiles } from '../../engine/broker/index.js';
import {
  ClaimedDeaths,
  type DeathEntry,
  deathsOf,
  type Field,
  Message,
  messageOf,
  Notes,
  type Properties,
} from '../../engine/message/index.js';
import { ByteSink, ByteSource, crc32 } from './bytes.js';
import { readTable, writeTable } from './death-codec.js';
import { readEnvelope, writeEnvelope } from './envelope.js';
import { type Plain, readPlain, writePlain } from './plain-codec.js';

function throughBytes<T>(write: (to: ByteSink) => void, read: (from: ByteSource) => T): T {
  const sink = new ByteSink(1);
  write(sink);
  const source = new ByteSource(sink.bytes.subarray(0, sink.at));
  const value = read(source);
  expect(source.at).toBe(sink.at);
  return value;
}

const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) });
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  anyText,
  fc.string({ minLength: 70, maxLength: 300 }),
);
const long = fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }));
const { field } = fc.letrec<{ field: Field }>((tie) => ({
  field: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ type: fc.constant('t' as const), value: fc.boolean() }),
    fc.record({ type: fc.constantFrom('b', 'B', 's', 'u', 'I', 'i'), value: fc.integer() }),
    fc.record({ type: fc.constantFrom('f', 'd'), value: fc.double() }),
    fc.record({ type: fc.constantFrom('l', 'T'), value: long }),
    fc.record({ type: fc.constant('S' as const), value: text }),
    fc.record({ type: fc.constant('x' as const), value: fc.uint8Array().map((bytes) => Buffer.from(bytes)) }),
    fc.record({ type: fc.constant('D' as const), value: fc.record({ scale: fc.nat(255), value: fc.nat() }) }),
    fc.constant({ type: 'V' as const, value: undefined }),
    fc.record({ type: fc.constant('A' as const), value: fc.array(tie('field'), { maxLength: 4 }) }),
    fc.record({
      type: fc.constant('F' as const),
      value: fc.array(fc.tuple(text, tie('field')), { maxLength: 4 }).map((fields) => new Map(fields)),
    }),
  ) as fc.Arbitrary<Field>,
}));
const table = fc.array(fc.tuple(text, field), { maxLength: 5 }).map((fields) => new Map(fields));

describe('what is stored comes back as it was', () => {
  it('integers as far as 2^53', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const natural = Math.abs(value);
        expect(
          throughBytes(
            (to) => to.varint(natural),
            (from) => from.varint(),
          ),
        ).toBe(natural);
      }),
    );
    for (const edge of [0, 127, 128, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1]) {
      expect(
        throughBytes(
          (to) => to.varint(edge),
          (from) => from.varint(),
        ),
      ).toBe(edge);
    }
  });

  it('texts, also such that are no UTF-8', () => {
    const back = (value: string): string =>
      throughBytes(
        (to) => to.text(value),
        (from) => from.text(),
      );
    fc.assert(fc.property(text, (value) => void expect(back(value)).toBe(value)));
    expect(back('a\udc80')).toBe('a\udc80');
  });

  it('field tables with every type (rule H4)', () => {
    fc.assert(
      fc.property(table, (value) => {
        const read = throughBytes((to) => writeTable(to, value), readTable);
        expect(read).toEqual(value);
        expect([...read.keys()]).toEqual([...value.keys()]);
      }),
    );
  });

  it('plain data, with names such as __proto__', () => {
    const data: Plain = {
      list: [1, -0.5, null, undefined, true, false, 'text', 5n],
      map: new Map<Plain, Plain>([['a', new Map([['b', Buffer.from([1, 2])]])]]),
      ['__proto__']: 'mine',
    };
    const read = throughBytes((to) => writePlain(to, data), readPlain);
    expect(read).toEqual(data);
    expect(Object.getOwnPropertyDescriptor(read, '__proto__')?.value).toBe('mine');
  });

  it('envelopes with all properties, copies and deaths', () => {
    const properties: Properties = {
      contentType: 'a/b',
      contentEncoding: 'gzip',
      headers: new Map([['n', { type: 'I', value: 4 }]]),
      deliveryMode: 2,
      priority: 0,
      correlationId: '',
      replyTo: 'me',
      expiration: '10',
      messageId: '1',
      timestamp: 2n ** 60n,
      type: 't',
      userId: 'guest',
      appId: 'app',
      clusterId: 'c',
    };
    const copies = { cc: ['a', 'b'], bcc: [] };
    for (const notes of [
      undefined,
      Notes.of(copies, undefined, undefined, 0),
      Notes.of(undefined, { exchange: 'x', routingKey: 'k', queue: undefined }, undefined, 4_294_967_295),
      Notes.of(copies, { exchange: '', routingKey: '', queue: 'q' }, undefined, 1),
    ]) {
      const message = messageOf('x', 'key', properties, Buffer.from('body'), notes);
      const read = throughBytes((to) => writeEnvelope(to, message), readEnvelope);
      expect(read).toEqual({ exchange: 'x', routingKey: 'key', own: properties, notes });
      expect([read.notes?.copies, read.notes?.delay]).toEqual([notes?.copies, notes?.delay]);
    }
  });

  it.each([profiles['3.10'], profiles['4']])(
    'deaths as records, from which the same headers are written',
    (dialect) => {
      const death: DeathEntry = {
        queue: 'q',
        reason: 'expired',
        exchange: '',
        routingKeys: ['q'],
        count: 1,
        time: 5_000,
      };
      const headers = new Map<string, Field>([['mine', { type: 'l', value: 2n ** 62n }]]);
      const message = new Message('', 'q', { headers, expiration: '010' }, Buffer.from('body'));
      let letter = die(message, death, dialect);
      letter = die(letter, { ...death, queue: 'p', reason: 'rejected' }, dialect);
      letter = die(letter, { ...death, time: 9_000 }, dialect);
      const { own, notes } = throughBytes((to) => writeEnvelope(to, letter), readEnvelope);
      const read = messageOf('', 'q', own, Buffer.from('body'), notes);
      expect(read.hasDied).toBe(true);
      expect(read.properties).toEqual(letter.properties);
      expect(deathsOf(read)).toEqual(deathsOf(letter));
      expect(deathsOf(read)).toMatchObject([{ queue: 'q', count: 2 }, { queue: 'p' }]);
      const more = { ...death, queue: 'r' };
      expect(die(read, more, dialect).properties).toEqual(die(letter, more, dialect).properties);
    },
  );

  it('deaths in a history that a client began', () => {
    const claimed = new Map<string, Field>([['x-death', { type: 'A', value: [{ type: 'F', value: new Map() }] }]]);
    const death: DeathEntry = {
      queue: 'q',
      reason: 'expired',
      exchange: '',
      routingKeys: ['q'],
      count: 1,
      time: 5_000,
    };
    const letter = die(new Message('', 'q', { headers: claimed }, Buffer.from('body')), death);
    const { own, notes } = throughBytes((to) => writeEnvelope(to, letter), readEnvelope);
    const read = messageOf('', 'q', own, Buffer.from('body'), notes);
    expect(read.properties).toEqual(letter.properties);
    expect(read.deaths).toBeInstanceOf(ClaimedDeaths);
    expect([read.deaths?.first, read.origin]).toEqual([undefined, undefined]);
    expect(die(read, death).properties).toEqual(die(letter, death).properties);
  });

  it('as formats 1 to 3 wrote it: deaths among the headers, with an expiration in each', () => {
    const death = (to: ByteSink, queue: string, expiration: [number, string] | undefined): void => {
      to.octet(1); // expired
      to.text(queue);
      to.text('x');
      to.varint(1);
      to.text('key');
      to.double(5);
      to.octet(expiration?.[0] ?? 0);
      if (expiration !== undefined) to.text(expiration[1]);
    };
    const history = (to: ByteSink, expiration: [number, string]): void => {
      to.varint(2);
      to.varint(1);
      death(to, 'second', undefined);
      to.varint(3);
      death(to, 'first', expiration);
      to.varint(3); // the first death is that of record 1
      to.varint(1); // the last stands for itself
      death(to, 'second', undefined);
    };
    const envelope =
      (flags: number, expiration: [number, string]) =>
      (to: ByteSink): void => {
        to.octet(flags);
        to.text('dlx');
        to.text('key');
        to.varint(1024);
        to.octet(2); // deaths on top of what follows
        to.octet(2); // and that is the same
        to.octet(0);
        to.varint(1);
        to.text('own');
        to.octet('t'.charCodeAt(0));
        to.octet(1);
        history(to, [1, '1']);
        history(to, expiration);
      };
    const readAs = (flags: number, expiration: [number, string]): Message => {
      const { exchange, routingKey, own, notes } = throughBytes(envelope(flags, expiration), readEnvelope);
      return messageOf(exchange, routingKey, own, Buffer.from('body'), notes);
    };
    const named = (which: string): string[] =>
      ['reason', 'queue', 'exchange'].map((name) => `x-${which}-death-${name}`);
    const names = ['own', 'x-death', ...named('first'), ...named('last')];
    for (const [expiration, originalExpiration, first] of [
      [[1, '010'], '010', 'count'],
      [[2, '10'], '10', 'original-expiration'],
    ] as const) {
      const died = readAs(1, [...expiration]);
      expect(died.origin).toEqual({ exchange: 'x', routingKey: 'key', queue: 'first' });
      expect([...died.own.headers!.keys()]).toContain('own');
      for (const message of [died, readAs(0, [...expiration])]) {
        expect(message.hasDied).toBe(message === died);
        expect([...message.properties.headers!.keys()]).toEqual(names);
        expect(deathsOf(message)).toEqual([
          { queue: 'second', reason: 'expired', exchange: 'x', routingKeys: ['key'], count: 1, time: 5_000 },
          {
            queue: 'first',
            reason: 'expired',
            exchange: 'x',
            routingKeys: ['key'],
            count: 3,
            time: 5_000,
            originalExpiration,
          },
        ]);
        const header = message.header('x-death');
        const entry = header?.type === 'A' ? header.value[1] : undefined;
        expect(entry?.type === 'F' && [...entry.value.keys()][0]).toBe(first);
      }
      expect(readAs(0, [...expiration]).origin).toBeUndefined();
    }
  });

  it('with the CRC of zlib, by either implementation', () => {
    const bytes = Buffer.from('123456789'.repeat(20));
    expect(crc32(bytes, 0, 9, 0)).toBe(0xcbf43926);
    for (const cut of [1, 20, 47, 48, 49, 100]) {
      expect(crc32(bytes, cut, 180, crc32(bytes, 0, cut, 5))).toBe(crc32(bytes, 0, 180, 5));
    }
  });
});
