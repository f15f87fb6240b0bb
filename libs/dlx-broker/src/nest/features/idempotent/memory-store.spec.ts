import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../testing/manual-clock.js';
import { MemoryIdempotencyStore } from './memory-store.js';

const arrange = () => {
  const clock = new ManualClock();
  return { clock, store: new MemoryIdempotencyStore(() => clock.now()) };
};

describe('a store in memory', () => {
  it('gives a key to one owner at a time, and to none once it is done', () => {
    const { store } = arrange();
    expect([store.claim('a', 1_000), store.claim('a', 1_000), store.claim('b', 1_000)]).toEqual([
      'claimed',
      'busy',
      'claimed',
    ]);
    store.done('a', 1_000);
    store.release('b');
    expect([store.claim('a', 1_000), store.claim('b', 1_000)]).toEqual(['done', 'claimed']);
  });

  it('lets a claim lapse, and forgets what was done', () => {
    const { clock, store } = arrange();
    store.claim('a', 1_000);
    clock.advance(999);
    expect(store.claim('a', 1_000)).toBe('busy');
    clock.advance(1);
    expect(store.claim('a', 1_000)).toBe('claimed');
    store.done('a', 60_000);
    clock.advance(59_999);
    expect(store.claim('a', 1_000)).toBe('done');
    clock.advance(1);
    expect(store.claim('a', 1_000)).toBe('claimed');
  });

  it('takes a claim back only from its owner: a lapsed key may have another owner, or be done', () => {
    const { clock, store } = arrange();
    store.claim('a', 1_000, 'slow');
    clock.advance(1_000);
    expect(store.claim('a', 1_000, 'quick')).toBe('claimed');
    store.release('a', 'slow');
    expect(store.claim('a', 1_000, 'third')).toBe('busy');
    store.done('a', 1_000);
    store.release('a', 'quick');
    expect(store.claim('a', 1_000, 'third')).toBe('done');
  });

  it('does not grow with what it may forget', () => {
    const { clock, store } = arrange();
    for (let index = 0; index < 100_000; index++) {
      store.claim(`m${index}`, 100);
      store.done(`m${index}`, 100);
      clock.advance(1);
    }
    expect(store.size).toBeLessThan(1_200);
  });
});
