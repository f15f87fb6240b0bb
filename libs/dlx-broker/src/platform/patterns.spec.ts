import { describe, expect, it } from 'vitest';
import { PatternError } from '../engine/broker/index.js';
import { policyPatterns } from './patterns.js';

const matches = (pattern: string, name: string): boolean => policyPatterns.compile(pattern).matches(name);

describe('a pattern of a policy', () => {
  // RabbitMQ 3.10.8 was asked for each of these: policy set over HTTP, then looked for on the queue.
  it.each([
    ['', 'any'],
    ['q$', 'cq'],
    ['(?i)^CQX?$', 'cq'],
    ['(?i)^j\\d+cq$', 'j34CQ'],
    ['^(?i:J)\\d+cq$', 'j35cq'],
    ['^j\\d+z\\Qz1\\E$', 'j36zz1'],
    ['[[:alpha:]]z2$', 'zz2'],
    ['\\Aj\\d+zz3\\z', 'j38zz3'],
    ['zz4\\Z', 'zz4'],
    ['(?P<n>z)z5', 'zz5'],
    ['z++6', 'zz6'],
    ['(?>z)z7', 'zz7'],
    ['\\x7az8', 'zz8'],
    ['(?#c)yy1', 'yy1'],
    ['(?x) y y2 $', 'yy2'],
    ['(?im)^j\\d+yy3$', 'j47YY3'],
    ['yyy{', 'yyy{'],
    ['(a+)+y6$|y6', 'y6'],
    ['w1\\.x', 'w1.x'],
    ['(?i)^(?!amq\\.).*', 'ex'],
    ['^(?!amq\\.).*', 'orders'],
    ['(?<=c)q', 'cq'],
    ['^(a|b)\\1$', 'bb'],
    ['^(?<x>a|b)\\k<x>$', 'bb'],
    ['^[^]a]{2,3}$', 'bcd'],
    ['^[]a-c-]+$', ']b-'],
    ['^(ab|a)(c|bcd)$', 'abcd'],
    ['^(a?)*b$', 'aab'],
    ['^(a|ab)(?:c|bc)??$', 'abc'],
    ['\\p{L}q', 'éq'],
    ['\\bwork\\b', 'my.work.queue'],
    ['^a(?#c)*b', 'b'],
    ['^a\\E*b', 'b'],
    ['^ab\\Q\\E?c', 'ac'],
    ['^\\Qab\\E*$', 'abb'],
    ['(?x)^a (?#c) * b', 'b'],
    ['^\\142\\0101$', 'b\b1'],
    ['^\\81\\9$', '819'],
    ['^(((((((((((a)))))))))))\\11$', 'aa'],
    ['^(?:\\2b|(?=(a))(a))+$', 'a'],
    ['^(?=a)*b', 'b'],
    ['^\\Qa|*', 'a|*'],
    ['(?x)^\\Qa b\\E $', 'a b'],
  ])('%j matches %j (rule F8)', (pattern, name) => expect(matches(pattern, name)).toBe(true));

  it.each([
    ['CQ', 'cq'],
    ['^q', 'cq'],
    ['y{,1}y4', 'yy4'],
    ['^(?!amq\\.).*', 'amq.direct'],
    ['^z++z$', 'zz'],
    ['^(?>z*)z$', 'zz'],
    ['^(a|b)\\1$', 'ab'],
    ['^[^]a]{2,3}$', 'b]'],
    ['^a.c$', 'a\nc'],
    ['^a{2}$', 'aaa'],
    ['(?i:A)b', 'AB'],
    ['a\\z', 'a\n'],
    ['^\\Qab\\E*', 'other'],
    ['^\\Qab\\E*$', 'abab'],
  ])('%j does not match %j', (pattern, name) => expect(matches(pattern, name)).toBe(false));

  // The same positions as RabbitMQ's engine names.
  it.each([
    ['(', 'missing )', 1],
    ['(?!', 'missing )', 3],
    ['a)', 'unmatched parentheses', 1],
    ['*', 'nothing to repeat', 0],
    ['a**', 'nothing to repeat', 2],
    ['a{2,1}', 'numbers out of order in {} quantifier', 5],
    ['[', 'missing terminating ] for character class', 1],
    ['[z-a]', 'range out of order in character class', 3],
    ['cq\\', '\\ at end of pattern', 3],
    ['^*a', 'nothing to repeat', 1],
    ['\\b+', 'nothing to repeat', 2],
    ['a(?i)*', 'nothing to repeat', 5],
    ['^\\Q\\E*a', 'nothing to repeat', 5],
    ['{2}a', 'nothing to repeat', 2],
    ['a{2}{3}', 'nothing to repeat', 6],
    ['\\Qab\\E*?{2}', 'nothing to repeat', 10],
    ['(*', 'nothing to repeat', 1],
    ['(*a)', '(*VERB) not recognized or malformed', 3],
    ['\\2(a)', 'reference to non-existent subpattern', 5],
    ['\\400', 'octal value is greater than \\377 in 8-bit non-UTF-8 mode', 3],
  ])('%j is none: %s (rule F13)', (pattern, reason, position) => {
    const fault = new PatternError(reason, position);
    expect(() => policyPatterns.compile(pattern)).toThrow(fault);
  });

  it('says what the engine of JavaScript says, for random patterns both know', () => {
    let seed = 7;
    const pick = <Item>(items: readonly Item[]): Item => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return items[(seed >> 8) % items.length]!;
    };
    const atoms = ['a', 'b', '.', '[ab]', '[^a]', '(a|b)', '(?:ab|a)', '(?=a)', '(?!b)', '(?<=a)', '^', '$', '\\b'];
    const counts = ['', '', '', '*', '+', '?', '*?', '{2}', '{1,2}', '{0,}?'];
    let compared = 0;
    for (let round = 0; round < 4_000; round++) {
      const part = (): string => {
        const atom = pick(atoms);
        return /^[ab.[(]/.test(atom) && !atom.startsWith('(?=') && !/^\(\?[!<]/.test(atom) ? atom + pick(counts) : atom;
      };
      const inner = part() + part() + pick(['', '|' + part()]);
      const pattern = pick([inner, `(?:${inner})${pick(counts)}${part()}`, `(${inner})${pick(counts)}`]);
      const theirs = new RegExp(pattern);
      const ours = policyPatterns.compile(pattern);
      for (const name of ['', 'a', 'b', 'ab', 'ba', 'aab', 'abab', 'bbba', 'aaaa']) {
        expect(`${pattern} ${name} ${ours.matches(name)}`).toBe(`${pattern} ${name} ${theirs.test(name)}`);
        compared++;
      }
    }
    expect(compared).toBe(36_000);
  });
});

describe('a pattern that would take for ever', () => {
  const notRetryable = ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(.*)*(.*)*(.*)*x', '(?=(a+)+$)a+!', '^(?:(?:a*)*)*b'];

  it.each(notRetryable)('%j is cut, and does not match', (pattern) => {
    const start = performance.now();
    expect(matches(pattern, `${'a'.repeat(250)}!`)).toBe(false);
    expect(performance.now() - start).toBeLessThan(5_000); // a few milliseconds; uncut it would be years
  });

  it('is cut though a later alternative would match, as RabbitMQ 3.10.8 does when asked', () => {
    expect(matches('^(?:(a+)+$|a+b)', `${'a'.repeat(60)}b`)).toBe(false);
    expect(matches('^a+b$', `${'a'.repeat(60)}b`)).toBe(true);
  });

  it('costs ten thousand names little', () => {
    const matcher = policyPatterns.compile('^(a+)+$');
    const start = performance.now();
    for (let n = 0; n < 10_000; n++) matcher.matches(`${'a'.repeat(60)}${n}!`);
    expect(performance.now() - start).toBeLessThan(60_000);
    expect(matcher.matches('aaa')).toBe(true);
  });

  it('is not mistaken for a match by a negative look-ahead', () => {
    expect(matches('^(?!(a+)+$)', `${'a'.repeat(100)}!`)).toBe(false);
  });

  it('cannot break the stack', () => {
    expect(matches('^(?:ab)*$', 'ab'.repeat(100_000))).toBe(false);
    expect(matches('^.*$', 'ab'.repeat(100_000))).toBe(true);
    expect(() => policyPatterns.compile('('.repeat(5_000))).toThrow(PatternError);
    expect(matches(`^${'a?'.repeat(5_000)}$`, 'a')).toBe(false);
  });

  it('has a limit of length, before it is read', () => {
    expect(() => policyPatterns.compile('a'.repeat(32_764))).not.toThrow();
    const pattern = '('.repeat(32_765);
    expect(() => policyPatterns.compile(pattern)).toThrow(new PatternError('regular expression is too large', 32_765));
  });

  it('may have a long list of alternatives', () => {
    const names = Array.from({ length: 2_000 }, (_, n) => `queue${n}`);
    expect(matches(`^(${names.join('|')})$`, 'queue1999')).toBe(true);
  });
});
