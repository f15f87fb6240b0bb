import { describe, expect, it } from 'vitest';
import { type Outstanding, OutstandingPublishes } from './publisher.js';

function arrange() {
  const outstanding = new OutstandingPublishes();
  const add = (routingKey: string): Outstanding => {
    const properties = {};
    const body = Buffer.alloc(0);
    const rest = { mandatory: false, returned: undefined, settled: () => undefined };
    const publish = { exchange: '', routingKey, properties, body, ...rest };
    outstanding.add(publish);
    return publish;
  };
  const left = (last: number): string[] => {
    const keys: string[] = [];
    outstanding.takeTo(last, ({ routingKey }) => void keys.push(routingKey));
    return keys;
  };
  return { outstanding, add, left };
}

describe('outstanding publishes', () => {
  it('of a queue that never confirms cost no memory for those that are confirmed one by one after them', () => {
    const { outstanding, add, left } = arrange();
    for (const key of ['a', 'b']) add(key);
    for (let tag = 3; tag <= 20_000; tag++) {
      add('q');
      if (tag === 10_000) continue;
      expect(outstanding.take(tag)?.routingKey).toBe('q');
    }
    expect(outstanding.places).toBeLessThanOrEqual(1_024);
    expect(outstanding.count).toBe(3);
    expect(outstanding.take(2)?.routingKey).toBe('b');
    expect(outstanding.take(2)).toBeUndefined();
    add('c');
    expect(left(20_000)).toEqual(['a', 'q']);
    expect([outstanding.count, outstanding.take(20_001)?.routingKey, outstanding.count]).toEqual([1, 'c', 0]);
  });

  it('are taken in their order, up to a tag, also those that are added meanwhile', () => {
    const { outstanding, add } = arrange();
    for (let tag = 1; tag <= 5_000; tag++) add(`${tag}`);
    for (let tag = 4_990; tag > 1; tag--) outstanding.take(tag);
    for (let tag = 5_001; tag <= 9_000; tag++) {
      add(`${tag}`);
      outstanding.take(tag);
    }
    const keys: string[] = [];
    outstanding.takeTo(9_002, ({ routingKey }) => {
      keys.push(routingKey);
      if (keys.length <= 3) add(`new ${keys.length}`);
    });
    const rest = Array.from({ length: 10 }, (_, index) => `${4_991 + index}`);
    expect(keys).toEqual(['1', ...rest, 'new 1', 'new 2']);
    expect([outstanding.count, outstanding.take(9_003)?.routingKey]).toEqual([1, 'new 3']);
  });
});
