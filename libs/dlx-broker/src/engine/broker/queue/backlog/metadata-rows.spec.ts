import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  emptyTable,
  type Field,
  type FieldTable,
  int32,
  longstr,
  Notes,
  notesOf,
  PackedTable,
  type Properties,
  RecordedDeaths,
} from '../../../message/index.js';
import type { Metadata } from './metadata.js';
import { MetadataBuilder, type MetadataRows } from './page-columns.js';

function rowsOf(messages: readonly Metadata[]): MetadataRows {
  const builder = new MetadataBuilder(messages.length);
  for (const [row, message] of messages.entries()) builder.put(row, message);
  return builder.rows;
}

const of = (own: Properties, routingKey = 'q', notes?: Notes): Metadata => ({ exchange: '', routingKey, own, notes });
const many = (own: (at: number) => Properties): readonly Metadata[] =>
  Array.from({ length: 300 }, (_, at) => of(own(at)));

/** Bytes of the differences, and the number of heads. */
const costOf = ({ heads, deltas }: MetadataRows) => [heads.length, deltas.length];

/** All that can be seen of metadata: the order of a table counts, and which kind of table it is. */
function described({ exchange, routingKey, own, notes }: Metadata) {
  const { headers } = own;
  const table = headers && { isPacked: headers instanceof PackedTable, fields: [...headers] };
  return { exchange, routingKey, own: { ...own, headers: undefined }, table, notes };
}

const uuids = fc.uuid();
const texts = fc.oneof(
  uuids,
  fc.nat(2_000).map((number) => `abc-${number}`),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('', '\udc80', 'a\ud800', 'é', 'x'.repeat(253), 'x'.repeat(254), 'x'.repeat(255), 'X'.repeat(36)),
  uuids.map((uuid) => uuid.toUpperCase()),
  uuids.map((uuid) => `${uuid.slice(0, 35)}g`),
  uuids.map((uuid) => `-${uuid.slice(1, 3)}-${uuid.slice(4)}`), // dashes more than a UUID has
);
const times = fc.oneof(
  fc.integer({ min: 1_700_000_000, max: 1_700_000_999 }),
  fc.constantFrom<number | bigint>(0, -5, 0.5, 2 ** 51, 2 ** 51 + 1, Number.MAX_SAFE_INTEGER, 2n ** 63n),
);
const fields: fc.Arbitrary<Field> = fc.oneof(
  texts.map(longstr),
  fc.integer({ min: -5, max: 5 }).map(int32),
  fc.constantFrom<Field>(
    { type: 'V', value: undefined },
    { type: 'l', value: 2n ** 62n },
    { type: 'd', value: Number.NaN },
    { type: 'x', value: Buffer.from([1, 2]) },
    { type: 'I', value: 2 ** 40 },
    { type: 'S', value: 'large '.repeat(2_000) },
    { type: 'A', value: [int32(1), { type: 'F', value: new Map([['in', longstr('table')]]) }] },
  ),
);
const tables: fc.Arbitrary<FieldTable> = fc
  .tuple(fc.dictionary(fc.constantFrom('a', 'trace', '__proto__', ''), fields, { maxKeys: 3 }), fc.boolean())
  .map(([record, isPacked]) => {
    const table = new Map(Object.entries(record));
    return isPacked ? PackedTable.of(table) : table;
  });
const some = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined, freq: 6 });
const properties: fc.Arbitrary<Properties> = fc.record({
  deliveryMode: fc.constantFrom(undefined, 1, 2),
  messageId: some(texts),
  correlationId: some(texts),
  replyTo: some(texts),
  expiration: some(fc.nat(100_000).map(String)),
  type: some(texts),
  timestamp: some(times),
  headers: some(tables),
});
const notes = fc.constantFrom(
  undefined,
  notesOf({ cc: ['c'], bcc: [] }),
  notesOf(undefined, { exchange: 'x', routingKey: 'k', queue: 'q' }),
);
const metadata = fc.record({ exchange: fc.constantFrom('', 'x'), routingKey: texts, own: properties, notes });

describe('metadata of rows', () => {
  it('are what the messages had, whatever differs between them', () => {
    const messages = fc.array(metadata, { minLength: 2, maxLength: 40 });
    fc.assert(
      fc.property(messages, (all) => {
        const rows = rowsOf(all);
        for (const [row, message] of all.entries()) expect(described(rows.at(row))).toEqual(described(message));
      }),
      { numRuns: 300 },
    );
  });

  it('are what the messages had when only the values differ', () => {
    const alike = fc.record({
      messageId: texts,
      correlationId: uuids,
      timestamp: times,
      headers: tables.filter((table) => !(table instanceof PackedTable)),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(texts, alike), { minLength: 2, maxLength: 40 }), (all) => {
        const messages = all.map(([key, own]) => of(own, key));
        const rows = rowsOf(messages);
        for (const [row, message] of messages.entries()) expect(described(rows.at(row))).toEqual(described(message));
      }),
      { numRuns: 300 },
    );
  });

  it('are what the messages had when messages share tables, in any order of reading', () => {
    const drawn = fc.record({
      tables: fc.array(tables, { minLength: 1, maxLength: 3 }),
      ids: fc.array(texts, { minLength: 1 }),
    });
    const rowOrder = fc.array(fc.nat(), { minLength: 20 });
    fc.assert(
      fc.property(drawn, fc.infiniteStream(fc.nat(9)), rowOrder, ({ tables: few, ids }, choice, order) => {
        const messages = Array.from({ length: 40 }, (_, row) => {
          const [which = 0] = choice.take(1);
          return of({ messageId: ids[row % ids.length], headers: few[which % few.length] });
        });
        const rows = rowsOf(messages);
        for (const at of order) {
          const row = at % messages.length;
          expect(described(rows.at(row))).toEqual(described(messages[row] as Metadata));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('write headers once that messages in a row share, and read them as one object', () => {
    const of20 = (second: number): FieldTable =>
      new Map([
        ['since', int32(second)],
        ['text', longstr('x'.repeat(200))],
      ]);
    const shared = Array.from({ length: 15 }, (_, second) => of20(second));
    const rows = rowsOf(many((at) => ({ messageId: `id-${at}`, headers: shared[Math.floor(at / 20)] })));
    expect(rows.heads.length).toBe(1);
    expect(rows.deltas.length).toBeLessThan(300 * 12);
    const read = Array.from({ length: 300 }, (_, row) => rows.at(row).own.headers);
    expect(new Set(read).size).toBe(shared.length);
    expect([...(read[299] as FieldTable)]).toEqual([...of20(14)]);
  });

  it('write shared headers for each head', () => {
    const text = (value: string): FieldTable => new Map([['text', longstr(value)]]);
    const shared = text('a text of both');
    const messages = ['a text of one.', 'another text..'].map((contentType) =>
      of({ contentType, headers: text(contentType) }),
    );
    const both = messages.map((message) => ({ ...message, own: { ...message.own, headers: shared } }));
    const rows = rowsOf([...messages, ...both]);
    expect(rows.heads.length).toBe(2);
    expect([...(rows.at(3).own.headers ?? [])]).toEqual([...shared]);
    expect([...(rows.at(2).own.headers ?? [])]).toEqual([...shared]);
  });

  it('take no bytes where nothing differs, and keep the objects', () => {
    const headers = new Map([['a', int32(1)]]);
    const rows = rowsOf(many(() => ({ messageId: 'same', headers })));
    expect(costOf(rows)).toEqual([1, 0]);
    expect(rows.at(200).own.headers).toBe(headers);
  });

  it('take 18 bytes for a UUID as message id', () => {
    const id = (at: number): string => `0f9619ff-8b86-4d01-b42d-${at.toString(16).padStart(12, '0')}`;
    const rows = rowsOf(many((at) => ({ deliveryMode: 2, messageId: id(at) })));
    expect(costOf(rows)).toEqual([1, 1 + 299 * 18]);
    expect(rows.at(299).own).toMatchObject({ deliveryMode: 2, messageId: id(299) });
  });

  it('take few bytes for ids that count, and for timestamps', () => {
    const rows = rowsOf(many((at) => ({ messageId: `Qm9yZWQu.${at}`, timestamp: 1_700_000_000 - at })));
    expect(rows.heads.length).toBe(1);
    expect(rows.deltas.length).toBeLessThan(299 * 9);
    expect(rows.at(299).own).toMatchObject({ messageId: 'Qm9yZWQu.299', timestamp: 1_699_999_701 });
  });

  it.each([
    ['as a Map', (table: FieldTable) => table],
    ['as the bytes of a client', (table: FieldTable) => PackedTable.of(table)],
  ])('take what differs in headers %s', (_how, kind) => {
    const table = (at: number) =>
      new Map([
        ['tenant', longstr('a')],
        ['trace', longstr(`t-${1_000 + at}`)],
        ['z', int32(9)],
      ]);
    const rows = rowsOf(many((at) => ({ headers: kind(table(at)) })));
    expect(rows.heads.length).toBe(1);
    expect(rows.deltas.length).toBeLessThan(299 * 9);
    const { headers } = rows.at(299).own;
    expect([...(headers ?? emptyTable)]).toEqual([...table(299)]);
    expect(headers instanceof PackedTable).toBe(kind(table(0)) instanceof PackedTable);
    expect(headers?.get('trace')).toEqual(longstr('t-1299'));
  });

  it('share equal headers of different objects', () => {
    const rows = rowsOf(many(() => ({ headers: new Map([['a', int32(1)]]) })));
    expect(costOf(rows)).toEqual([1, 0]);
  });

  it('share notes that say the same, and no others', () => {
    const death = (time: number) => ({
      queue: 'q',
      reason: 'rejected',
      exchange: '',
      routingKeys: ['q'],
      count: 1,
      time,
    });
    const noted = (time: number, queue: string): Notes => {
      const first = death(time);
      return Notes.of(
        undefined,
        { exchange: '', routingKey: 'k', queue },
        new RecordedDeaths([first], first, undefined, false),
        0,
      );
    };
    const all = [noted(1, 'q'), noted(1, 'q'), noted(2, 'q'), noted(1, 'r'), noted(2, 'q')];
    const rows = rowsOf(all.map((each) => of({}, 'q', each)));
    expect(rows.heads.length).toBe(3);
    for (const [row, each] of all.entries()) expect(rows.at(row).notes).toEqual(each);
  });

  it('do not grow with messages of which each has something that no delta can have', () => {
    const rows = rowsOf(many((at) => ({ messageId: `m${at}`, timestamp: 2n ** 63n + BigInt(at) })));
    expect(costOf(rows)).toEqual([300, 0]);
    expect(rows.at(7).own).toMatchObject({ messageId: 'm7', timestamp: 2n ** 63n + 7n });
  });

  it('encode no headers of a message that needs a head in any case', () => {
    const rows = rowsOf(many((at) => ({ timestamp: 2n ** 63n + BigInt(at), headers: new Map([['a', int32(at)]]) })));
    expect(rows.heads.filter(({ fields }) => fields.length > 0)).toEqual([]);
    expect(rows.at(7).own.headers?.get('a')).toEqual(int32(7));
  });
});
