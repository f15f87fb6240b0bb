import { describe, expect, it } from 'vitest';
import { Outgoing, sizeOf } from './outgoing.js';
import { OpenPublishes } from './replacements.js';

const limits = { messages: 3, bytes: 10_000 };
const bodyOf = (length: number) => ({
  exchange: '',
  routingKey: 'q',
  properties: {},
  body: new Uint8Array(length),
});

function outgoing(deadline: number, length = 100): Outgoing {
  const publication = bodyOf(length);
  return new Outgoing(publication, undefined, deadline, sizeOf(publication));
}

describe('open publishes', () => {
  it.each([[[0, 1, 2]], [[2, 1, 0]], [[1, 0, 2]], [[1, 2, 0]]])('forget each, in the order %j', (order) => {
    const open = new OpenPublishes(limits);
    const all = [outgoing(1), outgoing(2), outgoing(3)];
    for (const each of all) open.add(each);
    const left = new Set(all);
    for (const index of order) {
      open.remove(all[index]!);
      left.delete(all[index]!);
      expect(open.count).toBe(left.size);
      expect(open.lateAt(10)).toBe([...left][0]);
    }
    for (const { next, previous } of all) expect([next, previous]).toEqual([undefined, undefined]);
    open.add(all[0]!);
    expect(open.lateAt(10)).toBe(all[0]);
  });

  it('find the oldest at its deadline, and not before', () => {
    const open = new OpenPublishes(limits);
    const [first, second] = [outgoing(5), outgoing(7)];
    open.add(first);
    open.add(second);
    expect(open.lateAt(4)).toBeUndefined();
    expect(open.lateAt(5)).toBe(first);
    open.remove(first);
    expect(open.lateAt(5)).toBeUndefined();
    expect(open.lateAt(7)).toBe(second);
  });

  it('have room for so many messages and bytes, and for one message of any size', () => {
    const open = new OpenPublishes(limits);
    expect(open.hasRoomFor(100_000)).toBe(true);
    const large = outgoing(1, 9_000);
    open.add(large);
    expect(open.hasRoomFor(488)).toBe(true);
    expect(open.hasRoomFor(489)).toBe(false);
    open.remove(large);
    for (const each of [outgoing(1), outgoing(1), outgoing(1)]) open.add(each);
    expect(open.hasRoomFor(1)).toBe(false);
    expect(open.full('it is slow').message).toContain('3 messages of 1836 bytes are not confirmed yet');
  });
});
