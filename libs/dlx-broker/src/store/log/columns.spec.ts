import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Octets, pieceRows, Words } from './columns.js';
import { EntryTable, Flag, MessageTable } from './tables.js';

describe.each([
  ['words', () => new Words(), 0xffff_ffff],
  ['octets', () => new Octets(), 255],
])('a column of %s', (_name, make, largest) => {
  it('has what was put into it, whenever it is tidied', () => {
    const rows = [0, 1, 2, 3, pieceRows - 1, pieceRows, pieceRows + 1, 3 * pieceRows];
    const step = fc.oneof(
      fc.record({ row: fc.constantFrom(...rows), value: fc.oneof(fc.constantFrom(0, 1, largest), fc.nat(largest)) }),
      fc.record({ tidy: fc.nat(4) }),
      fc.record({ fill: fc.nat(1), from: fc.nat(9), by: fc.constantFrom(-1, 0, 1) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const column = make();
        const expected = new Map<number, number>();
        const set = (row: number, value: number): void => {
          column.set(row, value);
          expected.set(row, value);
        };
        for (const each of steps) {
          if ('tidy' in each) column.tidy(each.tidy);
          else if ('row' in each) set(each.row, each.value);
          else {
            // A whole piece, with even steps as far as the largest number allows.
            const numberAt = (row: number): number => Math.max(0, Math.min(largest, each.from + each.by * row));
            for (let row = 0; row < pieceRows; row++) set(each.fill * pieceRows + row, numberAt(row));
          }
          for (const row of rows) expect(column.get(row)).toBe(expected.get(row) ?? 0);
        }
        let differ = 0;
        for (const [row, value] of expected) if (column.get(row) !== value) differ++;
        expect(differ).toBe(0);
      }),
      { numRuns: 25 },
    );
  });
});

describe('the tables of a long queue', () => {
  const count = 20 * pieceRows;

  it('need little memory for its rows, and less when these are free', () => {
    const messages = new MessageTable();
    const entries = new EntryTable();
    for (let at = 1; at <= count; at++) {
      const message = messages.add(0);
      messages.own.set(message, 1);
      messages.segment.set(message, 1 + (at >> 14));
      messages.offset.set(message, (at * 1_041) % 16_777_216);
      messages.length.set(message, 1_040);
      entries.segment.set(entries.add(undefined, message, 1, Flag.Live | Flag.Stored), 1 + (at >> 14));
    }
    // The round goes on with whatever comes: here with what comes and goes at once.
    for (let at = 0; at < 4 * count; at++) {
      const message = messages.add(0);
      const entry = entries.add(undefined, message, 1, Flag.Live);
      entries.remove(entry);
      entries.free(entry);
      messages.free(message);
    }
    expect((messages.bytes + entries.bytes) / count).toBeLessThan(18);
    expect([entries.message.get(777), entries.queue.get(777), messages.own.get(777)]).toEqual([777, 1, 1]);
    for (let at = 1; at <= count; at++) {
      entries.remove(at);
      entries.free(at);
      messages.free(at);
    }
    for (let at = 0; at < 2 * count; at++) messages.free(messages.add(0));
    for (let at = 0; at < 2 * count; at++) {
      const entry = entries.add(undefined, 1, 1, 0);
      entries.remove(entry);
      entries.free(entry);
    }
    expect([messages.count, entries.count]).toEqual([0, 0]);
    expect((messages.bytes + entries.bytes) / count).toBeLessThan(4);
    // All of them are used again, each once.
    const again = new Set<number>();
    for (let at = 0; at < count; at++) again.add(messages.add(0));
    expect(again.size).toBe(count);
  });
});
