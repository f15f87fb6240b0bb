import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Deque } from './deque.js';

describe('a deque', () => {
  it('does what an array does, whatever the order of commands', () => {
    const command = fc.oneof(
      fc.record({ do: fc.constant('push' as const), value: fc.nat() }),
      fc.record({ do: fc.constant('shift' as const) }),
      fc.record({ do: fc.constant('filter' as const), value: fc.integer({ min: 2, max: 5 }) }),
      fc.record({ do: fc.constant('clear' as const) }),
      fc.record({ do: fc.constant('remove' as const), value: fc.nat() }),
      fc.record({ do: fc.constant('takeFirst' as const), value: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 300 }), (commands) => {
        const deque = new Deque<number>();
        let array: number[] = [];
        for (const step of commands) {
          if (step.do === 'push') array.push(step.value);
          if (step.do === 'push') deque.push(step.value);
          if (step.do === 'shift') expect(deque.shift()).toBe(array.shift());
          if (step.do === 'filter') {
            array = array.filter((value) => value % step.value !== 0);
            deque.filter((value) => value % step.value !== 0);
          }
          if (step.do === 'remove' && array.length > 0) {
            deque.removeAt(step.value % array.length);
            array.splice(step.value % array.length, 1);
          }
          if (step.do === 'takeFirst') {
            const count = step.value % (array.length + 1);
            const taken: number[] = [];
            const other = deque.takeFirst(count);
            other.push(7);
            other.each((value) => void taken.push(value));
            expect(taken).toEqual([...array.splice(0, count), 7]);
          }
          if (step.do === 'clear' && array.length > 20) {
            array = [];
            deque.clear();
          }
          expect(deque.length).toBe(array.length);
          expect(deque.first()).toBe(array[0]);
          expect(deque.at(1)).toBe(array[1]);
          const seen: number[] = [];
          deque.each((value) => void seen.push(value));
          expect(seen).toEqual(array);
          const rest: number[] = [];
          deque.each((value) => void rest.push(value), 3);
          expect(rest).toEqual(array.slice(3));
        }
      }),
    );
  });

  it.each([1, 8, 16_384, 20_000])('has no value in front of the first or behind the last of %d', (length) => {
    const deque = new Deque<number>();
    for (let index = 0; index < length; index++) deque.push(index);
    expect([deque.at(-1), deque.at(0), deque.at(length - 1), deque.at(length)]).toEqual([
      undefined,
      0,
      length - 1,
      undefined,
    ]);
  });

  it('releases the memory of removed items, and stays in order', () => {
    const deque = new Deque<number>();
    for (let round = 0; round < 3; round++) {
      for (let index = 0; index < 10_000; index++) deque.push(index);
      for (let index = 0; index < 10_000; index++) expect(deque.shift()).toBe(index);
    }
    expect(deque.shift()).toBeUndefined();
  });

  it('does so when it is long, and becomes long and short', () => {
    const amount = fc.nat({ max: 30_000 });
    const command = fc.oneof(
      fc.record({ do: fc.constantFrom('push' as const, 'shift' as const, 'takeFirst' as const), amount }),
      fc.record({ do: fc.constantFrom('remove' as const, 'replace' as const), amount }),
      fc.record({ do: fc.constant('filter' as const), amount: fc.integer({ min: 2, max: 5 }) }),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 12 }), (commands) => {
        const deque = new Deque<number>();
        let array: number[] = [];
        let next = 0;
        for (const step of [{ do: 'push' as const, amount: 20_000 }, ...commands]) {
          const place = array.length === 0 ? 0 : step.amount % array.length;
          for (let left = step.do === 'push' ? step.amount : 0; left > 0; left--) {
            array.push(next);
            deque.push(next++);
          }
          if (step.do === 'shift')
            expect(array.splice(0, step.amount).every((value) => deque.shift() === value)).toBe(true);
          if (step.do === 'takeFirst')
            expect(String(valuesOf(deque.takeFirst(place)))).toBe(String(array.splice(0, place)));
          if (step.do === 'remove' && array.length > 0) {
            array.splice(place, 1);
            deque.removeAt(place);
          }
          if (step.do === 'replace' && array.length > 0) {
            array[place] = -1;
            deque.replace(place, -1);
          }
          if (step.do === 'filter') {
            array = array.filter((value) => value % step.amount !== 0);
            deque.filter((value) => value % step.amount !== 0);
          }
          expect([deque.length, deque.first(), deque.at(place)]).toEqual([array.length, array[0], array[place]]);
          expect(valuesOf(deque).every((value, index) => value === array[index])).toBe(true);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('never copies more than some thousand values when it grows and shrinks', () => {
    const lengths: number[] = [];
    const counting = new Proxy(Array, {
      construct(target, [length]: [number]) {
        lengths.push(length);
        return new target(length);
      },
    });
    vi.stubGlobal('Array', counting);
    const deque = new Deque<number>();
    for (let index = 0; index < 300_000; index++) deque.push(index);
    for (let index = 0; index < 299_000; index++) deque.shift();
    vi.unstubAllGlobals();
    expect(deque.first()).toBe(299_000);
    expect(lengths.length).toBeGreaterThan(25);
    expect(Math.max(...lengths)).toBe(16_384);
  });
});

function valuesOf(deque: Deque<number>): number[] {
  const values: number[] = [];
  deque.each((value) => void values.push(value));
  return values;
}
