import fc from 'fast-check';
import { expect, it } from 'vitest';
import { policyPatterns } from '../../../platform/patterns.js';
import type { MatchCost, Matcher, Patterns } from '../patterns.js';
import { byRank, Policies } from './policy.js';

const pieces = [
  'a',
  'b',
  '\\.',
  '.',
  '*',
  '+',
  '?',
  '^',
  '$',
  '(a)',
  '[ab]',
  '|',
  '(?i)',
  '{2}',
  '(?m)^',
  '(?#c)',
  '\\E',
  '\\Qab\\E',
];
const pattern = fc.array(fc.constantFrom(...pieces), { maxLength: 5 }).map((some) => some.join(''));
const name = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 5 });

/** The patterns as they are, without the beginnings of names. */
const plain: Patterns = {
  compile: (text) => {
    const matcher = policyPatterns.compile(`(?:${text})`);
    return { matches: (asked, cost) => matcher.matches(asked, cost) };
  },
};

const compiled = (patterns: Patterns, text: string): Matcher | undefined => {
  try {
    return patterns.compile(text);
  } catch {
    return undefined;
  }
};

it.each([
  ['^orders\\.', 'orders.'],
  ['^orders\\.*', 'orders'],
  ['^ab+c', 'a'],
  ['^ab{2}', 'a'],
  ['^a|b', undefined],
  ['^a|^b', undefined],
  ['^a(b|c)', 'a'],
  ['\\Aa\\x62c', 'abc'],
  ['(?i)^a', ''],
  ['^a(?i)b', 'a'],
  ['^a(?x) b', 'ab'],
  ['(^a)b', undefined],
  ['(?m)^a', undefined],
  ['a$', undefined],
  ['^.*', ''],
  ['^\\d', ''],
  ['^a\\Qb|\\E', 'ab|'],
  ['^ab(?#c)*d', 'a'],
  ['^ab\\E?', 'a'],
  ['^ab\\Q\\E{0}', 'a'],
])('names that match %s begin with %s', (text, start) => {
  expect(policyPatterns.compile(text).start).toBe(start);
});

it('the beginning of a pattern decides about no name that matches', () => {
  fc.assert(
    fc.property(pattern, name, (text, asked) => {
      const quick = compiled(policyPatterns, `^${text}`);
      const slow = compiled(plain, `^${text}`);
      if (quick !== undefined && slow !== undefined) expect(quick.matches(asked)).toBe(slow.matches(asked));
    }),
    { numRuns: 3_000 },
  );
});

it('a queue has the policy of highest rank that matches, whatever was set and deleted (rule F7)', () => {
  const change = fc.record({
    name: fc.constantFrom('p', 'q', 'r', 's'),
    pattern: fc.constantFrom('^a', '^ab', '^a.b', 'b$', '', '^b\\.', '^a|^b'),
    priority: fc.integer({ min: 0, max: 2 }),
    isSet: fc.boolean(),
    isApplied: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), fc.array(name, { maxLength: 5 }), (changes, names) => {
      const policies = new Policies(policyPatterns);
      const queues = new Map(names.map((queue) => [queue, policies.matchQueue(queue, 'classic')]));
      for (const { name, pattern, priority, isSet, isApplied } of changes) {
        if (isSet) policies.set(name, { pattern, priority, definition: { 'max-length': 1 } });
        else policies.delete(name);
        if (!isApplied) continue; // several changes are applied together
        for (const [queue, before] of queues) queues.set(queue, policies.rematchQueue(before, queue, 'classic'));
        policies.applied();
        for (const [queue, policy] of queues) {
          const all = policies.list().map((each) => ({ policy: each }) as Parameters<typeof byRank>[0]);
          const matches = (one: (typeof all)[number]): boolean => plain.compile(one.policy.pattern).matches(queue);
          expect(policy).toBe(all.sort(byRank).find(matches)?.policy);
          expect(policies.matchQueue(queue, 'classic')).toBe(policy);
        }
      }
    }),
    { numRuns: 500 },
  );
});

it('a new policy is matched once for each queue, and anchored policies for other names never', () => {
  const policies = new Policies(policyPatterns);
  const cost: MatchCost = { steps: 0 };
  for (let n = 0; n < 500; n++) policies.set(`p${n}`, { pattern: `^x${n}\\.`, definition: { 'max-length': 1 } });
  expect(policies.matchQueue('orders', 'classic', cost)).toBeUndefined();
  expect(cost.steps).toBe(0);
  for (let n = 0; n < 500; n++) policies.set(`y${n}`, { pattern: `x${n}$`, definition: { 'max-length': 1 } });
  policies.applied();
  policies.set('new', { pattern: 's$', definition: { 'max-length': 1 } });
  expect(policies.rematchQueue(undefined, 'orders', 'classic', cost)?.name).toBe('new');
  expect(cost.steps).toBeLessThan(20);
});

it('after many changes a queue is matched with the policies that its name begins like', () => {
  let looks = 0;
  const counted: Patterns = {
    compile: (text) => {
      const matcher = policyPatterns.compile(text);
      const matches = (asked: string): boolean => {
        looks++;
        return matcher.matches(asked);
      };
      return { start: matcher.start, matches };
    },
  };
  const policies = new Policies(counted);
  for (let n = 0; n < 1_000; n++) policies.set(`p${n}`, { pattern: `^x${n}\\.`, definition: { 'max-length': 1 } });
  expect(policies.rematchQueue(undefined, 'x7.orders', 'classic')?.name).toBe('p7');
  expect(looks).toBeLessThan(5);
});
