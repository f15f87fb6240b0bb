import { describe, expect, it } from 'vitest';
import { Entry } from '../../engine/broker/queue/entry.js';
import { Message, noProperties } from '../../engine/message/index.js';
import { Doubles, Octets, pieceRows, References, Words } from './columns.js';
import { inOneTurn } from './in-turns.js';
import { EntryTable, Flag, MessageTable } from './tables.js';

const body = new Uint8Array(1);

/** So many messages with an entry each; every other one shares the body of the one before, if anything is shared. */
function filled(count: number, isShared: boolean): { readonly messages: MessageTable; readonly entries: EntryTable } {
  const messages = new MessageTable();
  const entries = new EntryTable();
  const entry = new Entry(new Message('', 'q', noProperties, body), 1, 0);
  for (let index = 0; index < count; index++) {
    const root = isShared && index % 2 === 1 ? index : 0;
    const number = messages.add(root);
    if (root !== 0) messages.shares.add(root, 1);
    for (const column of [messages.segment, messages.offset, messages.length, messages.cached]) column.set(number, 7);
    messages.own.add(number, 1);
    entries.segment.set(entries.add(entry, number, 3, Flag.Live | Flag.Stored), 7);
  }
  return { messages, entries };
}

describe('the index', () => {
  it.each([
    ['that shares its body', true, 61],
    ['that shares nothing', false, 53],
  ])('has few bytes for a message %s, whatever their number', (_, isShared, each) => {
    for (const count of [10, pieceRows - 1, pieceRows, 3 * pieceRows - 1, 3 * pieceRows, 6 * pieceRows - 1]) {
      const { messages, entries } = filled(count, isShared);
      const bytes = messages.bytes + entries.bytes;
      // Row 0 is unused, and the last piece of each column may have just begun.
      expect(bytes / (Math.ceil((count + 1) / pieceRows) * pieceRows), `${count} messages`).toBeLessThanOrEqual(each);
    }
    const many = 6 * pieceRows - 1;
    const { messages, entries } = filled(many, isShared);
    expect((messages.bytes + entries.bytes) / many).toBeLessThan(64);
  });

  it('does not grow when a hundred times as many messages pass through it', () => {
    const { messages, entries } = filled(100, true);
    const before = messages.bytes + entries.bytes;
    const entry = new Entry(new Message('', 'q', noProperties, body), 1, 0);
    for (let round = 0; round < 10_000; round++) {
      const message = messages.add(0);
      const number = entries.add(entry, message, 3, Flag.Live);
      entries.remove(number);
      entries.free(number);
      messages.free(message);
    }
    expect(messages.bytes + entries.bytes).toBe(before);
    expect([messages.end, entries.end]).toEqual([102, 102]);
  });

  it('takes the memory of a few pieces while a long queue is filled, and while it is drained', () => {
    const messages = new MessageTable();
    const entries = new EntryTable();
    const rows = 40 * pieceRows;
    const together = 1_000;
    const peaks = [0, 0];
    const look = (phase: number): void => {
      peaks[phase] = Math.max(peaks[phase] as number, messages.bytes + entries.bytes);
    };
    const each = (visit: (row: number) => void, phase: number, then: (row: number) => void): void => {
      for (let from = 1; from <= rows; from += together) {
        const end = Math.min(rows + 1, from + together);
        for (let row = from; row < end; row++) visit(row);
        for (let row = from; row < end; row++) then(row);
        look(phase);
      }
    };
    const add = (row: number): void => {
      messages.own.add(messages.add(0), 1);
      entries.add(undefined, row, 3, Flag.Live | Flag.Changed);
    };
    const written = (row: number): void => {
      messages.offset.set(row, (row % pieceRows) * 1_070);
      for (const column of [messages.segment, entries.segment]) column.set(row, 1 + Math.floor(row / pieceRows));
      entries.flags.set(row, Flag.Live | Flag.Stored);
    };
    const leave = (row: number): void => {
      entries.remove(row);
      messages.own.add(row, -1);
      messages.free(row);
    };
    each(add, 0, written);
    each(leave, 1, (row) => entries.free(row));
    const bytesOfPiece = pieceRows * (13 * 4 + 1);
    for (const peak of peaks) expect(peak).toBeLessThan(4 * bytesOfPiece);
    expect([messages.count, entries.count]).toEqual([0, 0]);
  });

  it('begins anew with serials that are too large for their column, and never calls one 0', () => {
    const messages = new MessageTable();
    messages.reach(1);
    messages.serial.set(1, 0xffff_fffe);
    messages.own.set(1, 1);
    inOneTurn(messages.rebuildingFreeList());
    expect([messages.add(0), messages.add(0), messages.add(0)].map((number) => messages.serial.get(number))).toEqual([
      0xffff_ffff, 1, 2,
    ]);
  });
});

describe('a column', () => {
  const far = 5 * pieceRows + 17;

  it.each([
    ['words', () => new Words(), 0xffff_ffff],
    ['octets', () => new Octets(), 255],
    ['doubles', () => new Doubles(), 1.5],
  ])('of %s has what was put into it, and 0 elsewhere', (_, make, most) => {
    const column = make();
    column.set(far, most);
    column.set(far + 1, 1);
    column.set(far + 1, 0);
    const rows = [0, 17, far - 1, far, far + 1, far + pieceRows];
    expect(rows.map((row) => column.get(row))).toEqual([0, 0, 0, most, 0, 0]);
  });

  it('of references has what was put into it, and nothing elsewhere', () => {
    const column = new References<{ readonly name: string }>();
    const one = { name: 'one' };
    column.set(far, one);
    column.set(3, undefined);
    expect([3, far - 1, far, far + pieceRows].map((row) => column.get(row))).toEqual([
      undefined,
      undefined,
      one,
      undefined,
    ]);
    column.set(far, undefined);
    expect(column.get(far)).toBeUndefined();
  });

  it('takes no memory for zeros', () => {
    const words = new Words();
    for (let row = 0; row < far; row++) words.set(row, 0);
    expect(words.bytes).toBe(0);
    expect([words.add(far, 2), words.add(far, -1)]).toEqual([2, 1]);
    expect(words.bytes).toBe(pieceRows * 4);
  });
});
