import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { int32, Message, messageOf, emptyBody, notesOf, type Properties, StoredBody } from '../../../message/index.js';
import type { RowStore } from '../../ports.js';
import { type Cursor, pageOf, type Ready, ReadyList, type ReturnTo } from '../ready-list.js';
import { CountedEntry, Entry } from '../entry.js';
import { Packer } from './index.js';
import { PriorityList, QuorumList } from '../priority-list.js';

interface Step {
  readonly do: 'push' | 'take' | 'return' | 'remove' | 'look' | 'expire' | 'clear';
  readonly at: number;
}

const many = Array<Step['do']>(8).fill('push');
const kinds = [...many, 'take', 'take', 'take', 'return', 'remove', 'remove', 'look', 'expire'] as const;
const step = fc.record({ do: fc.constantFrom<Step['do']>(...kinds), at: fc.nat(1_000) });
const steps = fc.array(step, { minLength: 80, maxLength: 160 });

const lists: readonly (readonly [string, (packer?: Packer) => Ready, ReturnTo])[] = [
  ['a classic queue', (packer) => new ReadyList(packer), 'original'],
  ['a quorum queue', (packer) => new ReadyList(packer), 'front'],
  ['a quorum queue that returns to the back', (packer) => new ReadyList(packer), 'back'],
  ['a priority queue', (packer) => new PriorityList(3, packer), 'original'],
  ['a quorum queue of RabbitMQ 4', (packer) => new QuorumList(packer), 'front'],
  ['a queue of RabbitMQ 4 that returns to the back', (packer) => new QuorumList(packer), 'back'],
];

const headers = new Map([['x', int32(1)]]);
const shared: Properties = { deliveryMode: 2, headers };

/** Messages of many kinds: alike and different, small and large, with notes, with deadlines. */
function entryOf(position: number, at: number, isCounted: boolean): Entry {
  const own: Properties =
    at % 5 === 0 ? shared : { priority: at % 6, messageId: at % 3 === 0 ? `m${at}` : undefined, deliveryMode: at % 2 };
  const notes = at % 7 === 0 ? notesOf({ cc: ['c'], bcc: [] }, undefined) : undefined;
  const body = new Uint8Array(at % 4 === 0 ? 300 + (at % 3) : at % 50).fill(at);
  const message = messageOf(at % 11 === 0 ? 'x' : '', `q${at % 2}`, own, body, notes);
  const deadline = at % 13 === 0 ? position + 0.5 : 0;
  return isCounted ? new CountedEntry(message, position, deadline) : new Entry(message, position, deadline);
}

/** A body that is in a store. */
class Elsewhere extends StoredBody {
  constructor(readonly length: number) {
    super();
  }

  read(): Uint8Array {
    return new Uint8Array(this.length);
  }
}

/** All that can be seen of an entry. */
function described(entry: Entry | undefined) {
  if (entry === undefined) return undefined;
  const { message, position, deadline, returns, failures, due } = entry;
  const { exchange, routingKey, own, notes, size, hasDied, body } = message;
  const text = Buffer.from(body).toString('latin1');
  const kind = [entry.constructor.name, message.constructor.name];
  return { kind, position, deadline, returns, failures, due, exchange, routingKey, own, notes, size, hasDied, text };
}

const all = (list: Ready, after?: Cursor) => {
  const found: unknown[] = [];
  list.each((entry, section) => void found.push([section, described(entry)]), after);
  return found;
};

/** Like `expect` with `toEqual`, which is slow. */
function areEqual(other: unknown, one: unknown): void {
  if (!isDeepStrictEqual(other, one)) expect(other).toEqual(one);
}

/** The same steps on two lists, which have to look the same after each. */
function compare(plain: Ready, packed: Ready, program: readonly Step[], to: ReturnTo, isCounted: boolean): void {
  const both = [plain, packed];
  const taken: (readonly [Entry, Entry])[] = [];
  let position = 0;
  for (const { do: what, at } of program) {
    if (what === 'push') {
      position++;
      for (const list of both) list.push(entryOf(position, at, isCounted));
    } else if (what === 'take') {
      const [one, other] = both.map((list) => list.shift());
      areEqual(described(other), described(one));
      if (one !== undefined && other !== undefined) taken.push([one, other]);
    } else if (what === 'return') {
      const [pair] = taken.splice(at % Math.max(1, taken.length), 1);
      if (to === 'back') position++;
      for (const [index, entry] of (pair ?? []).entries()) {
        entry.countReturn('requeue');
        if (to === 'back') entry.position = position;
        both[index]?.giveBack(entry, to);
      }
    } else if (what === 'remove') {
      const wanted = at % (position + 2);
      const [one, other] = both.map((list) => [
        list.has(wanted),
        described(list.find(wanted)),
        described(list.take(wanted)),
      ]);
      areEqual(other, one);
    } else if (what === 'expire') {
      const [one, other] = both.map((list) => described(list.shiftExpired(at % (position + 1))));
      areEqual(other, one);
    } else {
      let [next, more] = [undefined, true] as [Cursor | undefined, boolean];
      for (const limit = 1 + (at % 7); more; more = next !== undefined) {
        const [one, other] = both.map((list) => pageOf(list, { after: next, limit }));
        areEqual(other?.entries.map(described), one?.entries.map(described));
        areEqual([other?.sections, other?.next], [one?.sections, one?.next]);
        next = one?.next;
      }
    }
    const [one, other] = both.map((list) => [
      list.length,
      list.bytes,
      list.deadline,
      described(list.first()),
      list.lengths?.(),
    ]);
    areEqual(other, one);
  }
  areEqual(all(packed), all(plain));
  while (plain.length > 0) areEqual(described(packed.shift()), described(plain.shift()));
  areEqual([packed.length, packed.bytes, packed.shift()], [0, 0, undefined]);
}

describe.each(lists)('rows of %s', (name, make, to) => {
  it('are no different from entries, whatever comes and goes', () => {
    const packing = fc.record({
      from: fc.integer({ min: 1, max: 12 }),
      rows: fc.constantFrom(1, 2, 3, 5, 40),
      exemptions: fc.record({ lines: fc.constantFrom(0, 1, 3), upTo: fc.integer({ min: 13, max: 30 }) }),
    });
    fc.assert(
      fc.property(steps, packing, (program, given) => {
        compare(make(), make(new Packer(undefined, given)), program, to, name.includes('4'));
      }),
      { numRuns: 20 },
    );
  });
});

describe('a long line', () => {
  const packing = { from: 8, rows: 4 };
  const filled = (count: number, body = (at: number) => new Uint8Array(at % 9)): ReadyList => {
    const list = new ReadyList(new Packer(undefined, packing));
    for (let at = 1; at <= count; at++) list.push(new Entry(new Message('', 'q', {}, body(at)), at, 0));
    return list;
  };

  it('makes an entry of a row at each call, and takes out the one that it counts', () => {
    const list = filled(40);
    expect(list.find(15)).not.toBe(list.find(15));
    expect(list.find(15)?.position).toBe(15);
    expect(list.take(15)?.position).toBe(15);
    expect([list.has(15), list.find(15), list.take(15), list.length]).toEqual([false, undefined, undefined, 39]);
  });

  it('keeps no object of properties that differ from message to message', () => {
    const list = new ReadyList(new Packer(undefined, { from: 8, rows: 4 }));
    const published = Array.from({ length: 40 }, (_, at): Properties => ({ messageId: `m${at}`, timestamp: at }));
    for (const [at, own] of published.entries()) list.push(new Entry(new Message('', 'q', own, emptyBody), at, 0));
    const kept = published.filter((own, at) => list.find(at)?.message.own === own);
    // The front, the end, and the head of each page.
    expect(kept.length).toBeLessThan(25);
    for (const own of published) expect(list.shift()?.message.own).toEqual(own);
  });

  it('keeps how often each message was returned, also more than 255 times', () => {
    const list = new ReadyList(new Packer(undefined, packing));
    const returns = (at: number): number => (at % 4 === 0 ? 0 : 70_000 - at);
    for (let at = 1; at <= 40; at++)
      list.push(Object.assign(new Entry(new Message('', 'q', {}, emptyBody), at, 0), { returns: returns(at) }));
    // Only an entry of a row is another object at each call.
    expect(list.find(15)).not.toBe(list.find(15));
    for (let at = 1; at <= 40; at++) expect(list.shift()?.returns).toBe(returns(at));
  });

  it('keeps no room for rows that have left, and goes on with the others', () => {
    const list = new ReadyList(new Packer(undefined, { from: 8, rows: 100 }));
    for (let at = 1; at <= 400; at++)
      list.push(new Entry(new Message('', 'q', { messageId: `${at}` }, new Uint8Array(at % 9)), at, 0));
    const kept = (at: number): boolean => at % 10 === 5;
    for (let at = 1; at <= 400; at++) if (!kept(at)) expect(list.take(at)?.message.own.messageId).toBe(`${at}`);
    for (let at = 1; at <= 400; at++) expect(list.find(at)?.message.own.messageId).toBe(kept(at) ? `${at}` : undefined);
    // Only the head of a page has the same properties at each call. The first rows of both pages have left, so the pages were made anew.
    const positions = Array.from({ length: 400 }, (_, index) => index + 1).filter(kept);
    const inRows = positions.filter((at) => list.find(at) !== list.find(at));
    const heads = inRows.filter((at) => list.find(at)?.message.own === list.find(at)?.message.own);
    expect([inRows.length, heads]).toEqual([20, [15, 115]]);
    for (const at of positions) {
      const { position, message } = list.shift() as Entry;
      expect([position, message.own.messageId, message.size]).toEqual([at, `${at}`, at % 9]);
    }
    expect([list.length, list.bytes]).toEqual([0, 0]);
  });

  describe('has objects up to a higher limit, if few have', () => {
    const exempting = { ...packing, exemptions: { lines: 1, upTo: 20 } };
    const grow = (list: ReadyList, count: number): ReadyList => {
      for (let at = 1; at <= count; at++) list.push(new Entry(new Message('', 'q', {}, emptyBody), at, 0));
      return list;
    };
    // Only an entry of a row is another object at each call.
    const hasRows = (list: ReadyList): boolean => list.find(6) !== list.find(6);

    it.each<[string, (list: ReadyList) => void]>([
      [
        'it has been consumed',
        (list) => {
          while (list.shift() !== undefined);
        },
      ],
      [
        'its messages have been taken out',
        (list) => {
          for (let at = 20; at > 0; at--) list.take(at);
        },
      ],
      [
        'it has been consumed down to half of the usual limit',
        (list) => {
          for (let left = 16; left > 0; left--) list.shift();
        },
      ],
      [
        'its messages have been taken out down to half of the usual limit',
        (list) => {
          for (let at = 20; at > 4; at--) list.take(at);
        },
      ],
      ['it has been cleared', (list) => list.clear()],
      ['it has become too long', (list) => list.push(new Entry(new Message('', 'q', {}, emptyBody), 21, 0))],
    ])('until %s', (_, end) => {
      const packer = new Packer(undefined, exempting);
      const [one, other, third] = [new ReadyList(packer), new ReadyList(packer), new ReadyList(packer)] as const;
      expect([grow(one, 20), grow(other, 20)].map(hasRows)).toEqual([false, true]);
      end(one);
      expect(hasRows(grow(third, 20))).toBe(false);
      third.clear();
      expect(hasRows(grow(third, 20))).toBe(false);
    });

    it('not before: a line above half of the usual limit stays exempt', () => {
      const packer = new Packer(undefined, exempting);
      const [one, other] = [grow(new ReadyList(packer), 20), new ReadyList(packer)] as const;
      for (let left = 15; left > 0; left--) one.shift();
      expect(hasRows(grow(other, 20))).toBe(true);
      one.shift();
      expect(one.length).toBe(4);
      other.clear();
      expect(hasRows(grow(other, 20))).toBe(false);
    });

    it('as one of several priorities', () => {
      const packer = new Packer(undefined, exempting);
      const list = new PriorityList(3, packer);
      for (let at = 1; at <= 20; at++) list.push(entryOf(at, 2, false));
      list.clear();
      expect(hasRows(grow(new ReadyList(packer), 20))).toBe(false);
    });
  });

  it('does not copy large bodies: other queues may have them', () => {
    const large = new Uint8Array(1_000);
    const list = filled(40, () => large);
    for (let at = 1; at <= 40; at++) expect(list.shift()?.message.body).toBe(large);
  });

  it('makes no page of messages that may fit later, and none of those behind the last one that fits', () => {
    const isReady: boolean[] = [];
    const forgotten: number[] = [];
    const store: RowStore = {
      hasAll: ({ position }) => isReady[position] === true,
      forget: ({ position }) => forgotten.push(position),
      recall: (_number, entry) => void (entry.slot = 1 as never),
      bodyOf: (_number, size) => new Elsewhere(size),
    };
    const list = new ReadyList(new Packer(store, { from: 8, rows: 8 }));
    const push = (from: number, to: number): void => {
      for (let at = from; at <= to; at++) {
        const message = new Message('', 'q', {}, emptyBody);
        message.pageOut(new Elsewhere(10));
        const entry = new Entry(message, at, 0);
        entry.slot = 1 as never;
        list.push(entry);
      }
    };
    push(1, 100);
    expect(forgotten).toEqual([]);
    for (let at = 9; at <= 15; at++) isReady[at] = true;
    push(101, 120);
    expect(forgotten).toEqual([9, 10, 11, 12, 13, 14, 15]);
    for (let at = 16; at <= 200; at++) isReady[at] = at % 3 > 0;
    push(121, 200);
    expect(forgotten.length).toBeGreaterThan(30);
    expect(forgotten).toContain(16);
    expect(forgotten.every((at) => isReady[at])).toBe(true);
    for (let at = 1; at <= 200; at++) expect(list.shift()?.position).toBe(at);
  });

  it('keeps messages whose bodies belong to others as they are', () => {
    const list = new ReadyList(new Packer(undefined, packing));
    const owner = new Message('', 'q', {}, new Uint8Array(3));
    owner.slot = 1 as never;
    const entries = Array.from({ length: 60 }, (_, at) => {
      const message = at % 5 === 0 ? new Message('', 'q', {}, owner) : new Message('', 'q', {}, new Uint8Array(3));
      return new Entry(message, at + 1, 0);
    });
    for (const entry of entries) list.push(entry);
    const seen = entries.map(() => list.shift());
    expect(seen.map((entry) => entry?.position)).toEqual(entries.map(({ position }) => position));
    for (const [at, entry] of entries.entries()) if (at % 5 === 0) expect(seen[at]).toBe(entry);
  });
});
