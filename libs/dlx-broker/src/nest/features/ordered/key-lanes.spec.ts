import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyLanes, type Lane } from './key-lanes.js';

/** A message of the test: it notes when it begins. */
class Item {
  isGone = false;
  lane!: Lane<Item>;

  constructor(
    readonly key: string | undefined,
    readonly number: number,
    private readonly begun: Item[],
  ) {}

  start(): void {
    this.begun.push(this);
  }
}

type Step =
  { readonly kind: 'enter'; readonly key: string | undefined } | { readonly kind: string; readonly at: number };

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('enter' as const), key: fc.constantFrom('a', 'b', 'c', undefined) }),
  fc.record({ kind: fc.constantFrom('leave', 'hold', 'wake', 'sweep'), at: fc.nat(20) }),
);

describe('the lanes of keys', () => {
  it('start one message of a key at a time, in order, and as many keys as the limit allows', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (program, limit) => {
        const begun: Item[] = [];
        const lanes = new KeyLanes<Item>(limit);
        const working: Item[] = [];
        const held: Item[] = [];
        const inHand: Item[] = [];
        let number = 0;
        const pick = (from: Item[], at: number): Item | undefined => from.splice(at % Math.max(1, from.length), 1)[0];
        const check = (): void => {
          for (const item of begun.splice(0)) {
            const before = inHand.find(({ key }) => key !== undefined && key === item.key);
            if (item.key !== undefined) expect(item.number).toBe(before?.number);
            expect(item.isGone).toBe(false);
            working.push(item);
          }
          expect(working.length).toBeLessThanOrEqual(limit);
          const blocked = new Set([...working, ...held].map(({ key, number }) => key ?? number));
          const free = inHand.some((item) => !blocked.has(item.key ?? item.number));
          if (free) expect(working.length).toBe(limit); // nothing waits that could begin
          expect([lanes.atWork, lanes.held, lanes.inHand]).toEqual([working.length, held.length, inHand.length]);
          expect(lanes.count).toBe(new Set(inHand.map(({ key, number }) => key ?? number)).size);
        };
        const forget = (gone: (item: Item) => boolean): void => {
          for (const list of [inHand, held]) list.splice(0, list.length, ...list.filter((item) => !gone(item)));
        };
        for (const step of program) {
          if ('key' in step) {
            const item = new Item(step.key, ++number, begun);
            inHand.push(item);
            item.lane = lanes.enter(item, step.key);
            lanes.start();
          } else if (step.kind === 'leave') {
            const item = pick(working, step.at);
            if (item !== undefined) {
              forget((each) => each === item);
              lanes.leave(item.lane);
            }
          } else if (step.kind === 'hold') {
            const item = pick(working, step.at);
            if (item !== undefined) {
              held.push(item);
              lanes.hold(item.lane);
            }
          } else if (step.kind === 'wake') {
            const item = pick(held, step.at);
            if (item !== undefined) lanes.wake(item.lane);
          } else {
            for (const [at, item] of inHand.entries()) if (at % 3 === step.at % 3) item.isGone = true;
            forget((item) => item.isGone && !working.includes(item));
            lanes.sweep();
            for (const item of inHand) item.isGone = false; // what is at work stays until it has ended
          }
          check();
        }
      }),
      { numRuns: 300 },
    );
  });

  it('need no call stack for a lane whose messages all end at once', async () => {
    const lanes = new KeyLanes<{ isGone: boolean; start(): void }>(1);
    let ended = 0;
    let lane: Lane<{ isGone: boolean; start(): void }> | undefined;
    const item = {
      isGone: false,
      start: () => {
        ended++;
        lanes.leave(lane!);
      },
    };
    for (let count = 0; count < 60_000; count++) lane = lanes.enter(item, 'a');
    lanes.start();
    expect([ended, lanes.inHand, lanes.count]).toEqual([60_000, 0, 0]);
    await lanes.idle();
  });

  it('start nothing while they are stopped, and are idle when the last one has ended', async () => {
    const begun: Item[] = [];
    const lanes = new KeyLanes<Item>(2);
    const items = ['a', 'b', 'c'].map((key, number) => new Item(key, number, begun));
    for (const item of items) item.lane = lanes.enter(item, item.key);
    lanes.start();
    lanes.stop();
    let isIdle = false;
    const idle = lanes.idle().then(() => (isIdle = true));
    lanes.leave(items[0]!.lane);
    await Promise.resolve();
    expect([begun.length, isIdle]).toEqual([2, false]);
    lanes.hold(items[1]!.lane);
    await idle;
    lanes.wake(items[1]!.lane);
    expect(begun.length).toBe(2);
    lanes.resume();
    expect(begun.length).toBe(4);
  });
});
