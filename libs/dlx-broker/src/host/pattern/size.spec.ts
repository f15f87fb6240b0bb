import { describe, expect, it } from 'vitest';
import { PatternError } from '../../broker/index.js';
import { policyPatterns } from '../patterns.js';
import { longestPattern } from './size.js';

const tooLarge = (pattern: string): PatternError => new PatternError('regular expression is too large', pattern.length);
const compile = (pattern: string) => policyPatterns.compile(pattern);

describe('the size of a pattern', () => {
  // RabbitMQ 3.10.8 was asked how often each may stand in a row.
  it.each([
    ['a', 32_764],
    ['\\x61', 32_764],
    ['\\.', 32_764],
    ['a?', 32_764],
    ['a++', 32_764],
    ['a{9}', 16_382],
    ['a{2,5}', 8_191],
    ['a{2,}', 10_921],
    ['a{0,3}', 16_382],
    ['a{1,3}', 10_921],
    ['.', 65_529],
    ['\\d', 65_529],
    ['\\d*', 32_764],
    ['\\d{2}', 16_382],
    ['\\d{2,}', 10_921],
    ['^', 65_529],
    ['\\b', 65_529],
    ['[ab]', 1_985],
    ['[a]', 32_764],
    ['[^a]', 32_764],
    ['[.]+', 32_764],
    ['[ab]*', 1_927],
    ['[ab]{2,5}', 1_724],
    ['[[:alpha:]]', 1_985],
    ['\\p{L}', 21_843],
    ['\\p{L}*', 16_382],
    ['(a)', 6_552],
    ['(a)*', 5_957],
    ['(a)+', 6_552],
    ['(a){3}', 2_184],
    ['(a){2,}', 3_276],
    ['(a){2,4}', 1_365],
    ['(a){0,3}', 1_456],
    ['(a){0}', 5_957],
    ['(?:a)', 8_191],
    ['(?:a)?', 7_281],
    ['(?:a|b)', 5_040],
    ['(a|b|c)', 3_276],
    ['(?=a)', 8_191],
    ['(?!a)', 8_191],
    ['(?<=a)', 5_957],
    ['(?<=a)*', 5_460],
    ['(?<!a|b)', 3_448],
    ['(?>a)', 8_191],
    ['(?i:a)', 8_191],
    ['|a', 13_105],
    ['|abc', 7_281],
    ['\u00e9', 16_382],
    ['\u20ac', 10_921],
    ['\\Qab\\E', 16_382],
    ['(?:(?:ab){3}c){2}', 862],
    ['(?:[ab]+x){2,3}', 515],
  ])('%j may stand in a row as often as in RabbitMQ: %i times (rule F13)', (part, most) => {
    expect(() => compile(part.repeat(most))).not.toThrow();
    const pattern = part.repeat(most + 1);
    expect(() => compile(pattern)).toThrow(tooLarge(pattern));
  });

  it('counts references as RabbitMQ does', () => {
    expect(() => compile(`(a)${'\\1'.repeat(21_839)}`)).not.toThrow();
    expect(() => compile(`(a)${'\\1'.repeat(21_840)}`)).toThrow('regular expression is too large');
  });

  it.each([
    ['(a){%}', 6_552],
    ['(?:a){%}', 8_191],
    ['(?:a){%,}', 8_191],
    ['(?:a){0,%}', 4_369],
    ['(?:a){1,%}', 4_369],
    ['(a){0,%}', 3_855],
    ['(?:ab){%}', 6_552],
    ['(?:(?:a){10}){%}', 761],
  ])('a group may be counted as often as in RabbitMQ: %j to %i', (shape, most) => {
    expect(() => compile(shape.replace('%', String(most)))).not.toThrow();
    expect(() => compile(shape.replace('%', String(most + 1)))).toThrow('regular expression is too large');
  });

  it('is counted while the pattern is read, so that the rest is not looked at', () => {
    const pattern = `${'a'.repeat(40_000)}(`;
    expect(() => compile(pattern)).toThrow(tooLarge(pattern));
  });

  it('does not grow with a long class or comment, but no pattern has more than a million characters', () => {
    expect(compile(`^[${'a-b'.repeat(166_666)}]$`).matches('b')).toBe(true);
    expect(compile(`(?#${'a'.repeat(500_000)})b`).matches('b')).toBe(true);
    const pattern = `[${'a'.repeat(longestPattern)}]`;
    expect(() => compile(pattern)).toThrow(tooLarge(pattern));
  });
});
