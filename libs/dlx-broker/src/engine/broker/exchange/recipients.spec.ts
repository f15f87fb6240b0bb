import { describe, expect, it } from 'vitest';
import { Recipients } from './router.js';

describe('recipients of a message', () => {
  it('are passed on once each, in the order in which they were found', () => {
    const recipients = new Recipients<string>();
    for (const name of ['b', 'a', 'b', 'c', 'a']) recipients.add(name);
    expect(recipients.all).toEqual(['b', 'a', 'c']);
    expect(recipients.isEmpty).toBe(false);
  });

  it('are those of this message and not of the last one', () => {
    const recipients = new Recipients<string>();
    for (const names of [['a', 'b', 'c'], ['d'], [], ['a', 'd']]) {
      recipients.clear();
      for (const name of names) recipients.add(name);
      expect(recipients.all).toEqual(names);
      expect(recipients.isEmpty).toBe(names.length === 0);
    }
  });

  it.each([15, 16, 17, 18, 1_000])('are passed on once each when they are %d', (count) => {
    const recipients = new Recipients<number>();
    for (const round of ['first', 'second']) {
      recipients.clear();
      for (let twice = 0; twice < 2; twice++) for (let number = 0; number < count; number++) recipients.add(number);
      expect(recipients.all, round).toEqual(Array.from({ length: count }, (_, number) => number));
    }
  });
});
