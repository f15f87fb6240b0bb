import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Deque } from '../deque.js';
import { Consumers, type ConsumerView } from './consumers.js';

class OneTaker implements ConsumerView {
  readonly exclusive = false;
  hasRoom = true;

  constructor(
    readonly priority: number,
    readonly number: number,
  ) {}

  canTake(): boolean {
    return this.hasRoom;
  }
  take(): void {}
  cancelledByServer(): void {}
}

afterEach(() => vi.restoreAllMocks());

describe('consumers of a queue', () => {
  it('rules J5, Q3, X1: have their turn by priority and in turn, while others come, are full or go, and none in a pause', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), which: fc.nat(2) }),
      fc.record({ do: fc.constant('remove' as const), which: fc.nat(50) }),
      fc.record({ do: fc.constant('fill' as const), which: fc.nat(50) }),
      fc.record({ do: fc.constant('revive' as const), which: fc.nat(50) }),
      fc.record({ do: fc.constant('next' as const), which: fc.constant(0) }),
      fc.record({ do: fc.constant('serve' as const), which: fc.nat(1) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const consumers = new Consumers(false, false);
        const all: OneTaker[] = [];
        let ring: OneTaker[] = [];
        let last = 0;
        let isServed = true;
        for (const each of steps) {
          const taker = all[each.which % Math.max(1, all.length)];
          if (each.do === 'add') {
            const added = new OneTaker(each.which, last++);
            consumers.add(added);
            all.push(added);
            ring.push(added);
          } else if (each.do === 'serve') {
            consumers.serve((isServed = each.which === 1));
          } else if (each.do === 'next' && !isServed) {
            expect(consumers.next()).toBeUndefined();
          } else if (each.do === 'next') {
            ring = [...ring].sort((one, other) => other.priority - one.priority);
            let expected: OneTaker | undefined;
            while (expected === undefined && ring.length > 0) {
              const first = ring.shift() as OneTaker;
              if (!first.hasRoom) continue;
              ring.push((expected = first));
            }
            expect((consumers.next() as OneTaker | undefined)?.number).toBe(expected?.number);
          } else if (taker !== undefined && each.do === 'remove') {
            consumers.remove(taker);
            all.splice(all.indexOf(taker), 1);
            ring = ring.filter((other) => other !== taker);
          } else if (taker !== undefined && each.do === 'fill') {
            taker.hasRoom = false;
          } else if (taker !== undefined && each.do === 'revive') {
            taker.hasRoom = true;
            consumers.revive(taker);
            if (!ring.includes(taker)) ring.push(taker);
          }
          expect(consumers.count).toBe(all.length);
        }
      }),
    );
  });

  it('go one by one without a look at all the others', () => {
    const consumers = new Consumers(false, false);
    const takers = Array.from({ length: 1_000 }, (_, number) => new OneTaker(0, number));
    for (const taker of takers) consumers.add(taker);
    const looks = vi.spyOn(Deque.prototype, 'filter');
    for (const taker of takers) consumers.remove(taker);
    expect(consumers.next()).toBeUndefined();
    expect(looks.mock.calls.length).toBeLessThan(20); // 1,000 with a look for each
  });
});
