import { describe, expect, it } from 'vitest';
import { matchesPattern } from './dead-letter-paths.js';

describe('a routing key fits a pattern (rule P7)', () => {
  it.each([
    ['order.created', 'order.created'],
    ['order.*', 'order.created'],
    ['*.created', 'order.created'],
    ['#', 'order.created'],
    ['#', ''],
    ['#.#', ''],
    ['', ''],
    ['order.#', 'order'],
    ['#.created', 'created'],
    ['a.#.b', 'a.b'],
    ['a.#.b', 'a.x.y.b'],
    ['#.a.#', 'x.a.y'],
    ['a.*', 'a.'],
    ['*.#', 'one'],
  ])('%s takes %s', (pattern, key) => expect(matchesPattern(pattern, key)).toBe(true));

  it.each([
    ['order.*', 'order'],
    ['order.*', 'order.created.today'],
    ['*', ''],
    ['*', 'a.b'],
    ['a*', 'ab'],
    ['#a', 'ba'],
    ['a.#.b', 'a.b.c'],
    ['Order', 'order'],
  ])('%s does not take %s', (pattern, key) => expect(matchesPattern(pattern, key)).toBe(false));

  it('at once also when many # meet many words', () => {
    const started = performance.now();
    expect(matchesPattern(Array(60).fill('#').join('.') + '.end', Array(100).fill('a').join('.'))).toBe(false);
    expect(performance.now() - started).toBeLessThan(5_000); // a few milliseconds; without a bound it would be years
  });
});
