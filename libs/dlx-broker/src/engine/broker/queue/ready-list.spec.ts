import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Message } from '../../message/index.js';
import { Entry } from './entry.js';
import { PriorityList } from './priority-list.js';
import { ReadyList } from './ready-list.js';

const entry = (position: number, priority?: number): Entry =>
  new Entry(new Message('', 'q', { priority }, new Uint8Array(position % 7)), position, 0);

/** Where a cursor says that it stands. */
function sectionOf(list: ReadyList, wanted: Entry): number {
  let found = 0;
  list.each((each, section) => {
    if (each === wanted) found = section;
  });
  return found;
}

describe('waiting messages', () => {
  it('rule J2: those taken and returned, in whatever order, stand where they stood', () => {
    const step = fc.constantFrom('push', 'take', 'look', 'look behind', 'remove');
    const commands = fc.array(fc.oneof(step, fc.nat(50)), { maxLength: 200 });
    fc.assert(
      fc.property(commands, (steps) => {
        const list = new ReadyList();
        let waiting: Entry[] = [];
        const taken: Entry[] = [];
        let position = 0;
        for (const step of steps) {
          if (step === 'push') {
            const next = entry(++position);
            waiting.push(next);
            list.push(next);
          } else if (step === 'take') {
            const expected = waiting.shift();
            expect(list.first()).toBe(expected);
            expect(list.shift()).toBe(expected);
            if (expected !== undefined) taken.push(expected);
          } else if (step === 'look' || step === 'look behind') {
            const seen: Entry[] = [];
            const after = step === 'look' ? undefined : waiting[waiting.length >> 1];
            if (after === undefined) list.each((found) => void seen.push(found));
            else
              list.each((found) => void seen.push(found), {
                section: sectionOf(list, after),
                position: after.position,
              });
            expect(seen).toEqual(after === undefined ? waiting : waiting.slice((waiting.length >> 1) + 1));
          } else if (step === 'remove') {
            const [gone] = waiting.splice(waiting.length >> 1, 1);
            if (gone === undefined) continue;
            expect(list.find(gone.position)).toBe(gone);
            list.take(gone.position);
            expect(list.find(gone.position)).toBeUndefined();
          } else if (taken.length > 0) {
            const [back] = taken.splice((step as number) % taken.length, 1);
            list.giveBack(back as Entry, 'original');
            waiting = [...waiting, back as Entry].toSorted((a, b) => a.position - b.position);
          }
          expect(list.length).toBe(waiting.length);
          expect(list.bytes).toBe(waiting.reduce((sum, { message }) => sum + message.body.length, 0));
        }
        const seen: Entry[] = [];
        list.each((found) => void seen.push(found));
        expect(seen).toEqual(waiting);
      }),
      { numRuns: 500 },
    );
  });

  it('rule D5: a quorum queue with a limit gives returned ones again first, in the order returned', () => {
    const list = new ReadyList();
    const [one, two, three, four] = [1, 2, 3, 4].map((position) => entry(position)) as [Entry, Entry, Entry, Entry];
    for (const each of [one, two, three, four]) list.push(each);
    for (let count = 0; count < 3; count++) list.shift();
    list.giveBack(three, 'front');
    list.giveBack(one, 'front');
    list.giveBack(two, 'front');
    expect([list.shift(), list.shift(), list.shift(), list.shift()]).toEqual([three, one, two, four]);
  });

  it('rules R1, C11: the highest priority first, in order within one, above the maximum counts as the maximum', () => {
    const list = new PriorityList(5);
    const entries = [entry(1), entry(2, 3), entry(3, 9), entry(4, 5), entry(5, 3), entry(6, 0)];
    for (const each of entries) list.push(each);
    const order: number[] = [];
    list.each(({ position }) => void order.push(position));
    expect(order).toEqual([3, 4, 2, 5, 1, 6]);
    const first = list.shift() as Entry;
    const second = list.shift() as Entry;
    list.giveBack(second, 'original');
    list.giveBack(first, 'original');
    expect(list.bytes).toBe(entries.reduce((sum, { message }) => sum + message.body.length, 0));
    expect([1, 2, 3, 4, 5, 6].map(() => list.shift()?.position)).toEqual([3, 4, 2, 5, 1, 6]);
    expect(list.length).toBe(0);
    expect(list.bytes).toBe(0);
  });
});
