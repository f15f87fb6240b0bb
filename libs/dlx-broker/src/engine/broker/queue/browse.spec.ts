import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Message } from '../../message/index.js';
import { Entry } from './entry.js';
import { PriorityList, QuorumList } from './priority-list.js';
import { type Cursor, pageOf, type Ready, ReadyList, type ReturnTo } from './ready-list.js';

/** A step of a test with a list of ready messages; `at` selects one of them. */
interface Step {
  readonly do: 'push' | 'take' | 'return' | 'remove';
  readonly at: number;
}

const steps = fc.array(
  fc.record({
    do: fc.constantFrom<Step['do']>('push', 'push', 'push', 'take', 'return', 'remove'),
    at: fc.nat(1_000),
  }),
  { maxLength: 120 },
);

const lists: readonly (readonly [string, () => Ready, ReturnTo])[] = [
  ['a classic queue', () => new ReadyList(), 'original'],
  ['a quorum queue', () => new ReadyList(), 'front'],
  ['a priority queue', () => new PriorityList(4), 'original'],
  ['a quorum queue of RabbitMQ 4', () => new QuorumList(), 'front'],
];

const all = (list: Ready): readonly Entry[] => {
  const entries: Entry[] = [];
  list.each((entry) => void entries.push(entry));
  return entries;
};

/** Page after page, from a place on. */
function rest(list: Ready, limit: number, after?: Cursor): readonly Entry[] {
  const entries: Entry[] = [];
  for (let next = after; ;) {
    const page = pageOf(list, { after: next, limit });
    entries.push(...page.entries);
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    if (page.next === undefined) return entries;
    expect(page.entries).toHaveLength(limit);
    next = page.next;
  }
}

/** Runs a program; what was taken is returned in the order it was taken. */
function run(list: Ready, program: readonly Step[], to: ReturnTo): void {
  const taken: Entry[] = [];
  let position = 0;
  for (const { do: what, at } of program) {
    const before = all(list);
    if (what === 'push') {
      position++;
      const deadline = at % 3 === 0 ? at : 0;
      list.push(new Entry(new Message('', 'q', { priority: at % 6 }, new Uint8Array(at % 5)), position, deadline));
    } else if (what === 'take') {
      const entry = list.shift();
      if (entry !== undefined) taken.push(entry);
    } else if (what === 'return') {
      const [entry] = taken.splice(0, 1);
      if (entry !== undefined) list.giveBack(entry, to);
    } else if (before.length > 0) {
      const entry = before[at % before.length] as Entry;
      list.take(entry.position);
      expect(all(list)).toEqual(before.filter((each) => each !== entry));
      expect(list.find(entry.position)).toBeUndefined();
    }
    const now = all(list);
    expect(list.length).toBe(now.length);
    expect(list.bytes).toBe(now.reduce((sum, { message }) => sum + list.sizeOf(message), 0));
    expect(list.first()).toBe(now[0]);
  }
}

describe.each(lists)('the messages of %s', (_name, make, to) => {
  it('are found by their positions, and can be taken out wherever they stand', () => {
    fc.assert(
      fc.property(steps, (program) => {
        const list = make();
        run(list, program, to);
        for (const entry of all(list)) expect(list.find(entry.position)).toBe(entry);
        expect(list.find(program.length + 1)).toBeUndefined();
        // What is left of heaps and counts must still deliver all of them in order.
        const order = all(list);
        expect(order.map(() => list.shift())).toEqual(order);
        expect([list.length, list.bytes, list.deadline]).toEqual([0, 0, 0]);
      }),
    );
  });

  it('are seen page by page, each once and in order', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), (program, limit) => {
        const list = make();
        run(list, program, to);
        expect(rest(list, limit)).toEqual(all(list));
      }),
    );
  });

  it('are seen once also when some leave between two pages', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(100)), (program, limit, leaving) => {
        const list = make();
        run(list, program, to);
        const page = pageOf(list, { limit });
        if (page.next === undefined) return;
        const cursor = page.next;
        for (const at of leaving) {
          const there = all(list);
          const entry = there[at % Math.max(1, there.length)];
          // Of those that have no order but that of their return, the one the cursor names must stay.
          if (entry !== undefined && (to === 'original' || entry.position !== cursor.position))
            list.take(entry.position);
        }
        const seen = new Set(page.entries);
        expect(rest(list, limit, cursor)).toEqual(all(list).filter((entry) => !seen.has(entry)));
      }),
    );
  });
});

it('a page costs what it shows, however long the queue is', () => {
  const list = new ReadyList();
  for (let position = 1; position <= 200_000; position++) {
    list.push(new Entry(new Message('', 'q', {}, new Uint8Array(1)), position, 0));
  }
  let looks = 0;
  const visit = list.each.bind(list);
  list.each = (look, after) => visit((entry, section) => (looks++, look(entry, section)), after);
  const page = pageOf(list, { after: { section: 0, position: 150_000 }, limit: 10 });
  expect(page.entries.map(({ position }) => position)).toEqual([...Array(10).keys()].map((at) => 150_001 + at));
  expect(looks).toBe(11);
});
