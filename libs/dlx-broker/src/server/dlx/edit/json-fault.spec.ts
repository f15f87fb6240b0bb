import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonFaultIn } from './json-fault.js';

function faultIn(body: string | Uint8Array): number | undefined {
  const work = jsonFaultIn(typeof body === 'string' ? Buffer.from(body) : body);
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

const isParsed = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('jsonFaultIn', () => {
  it.each<[string, number]>([
    ['', 0],
    ['  ', 2],
    ['{"a":1', 6],
    ['{"a":1,}', 7],
    ['[1,]', 3],
    ['[1 2]', 3],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ['[]]', 2],
    ['{]', 1],
    ['[}', 1],
    ['01', 0],
    ['-', 0],
    ['1.', 0],
    ['1e+', 0],
    ['"\\x"', 0],
    ['"\\u12g4"', 0],
    ['"\\u12"', 0],
    ['"line\nend"', 0],
    ['"open', 0],
    ['truth', 0],
    ['truex', 4],
    ['nul', 0],
    ['\ufeff{}', 0],
    ['NaN', 0],
    ['1 2', 2],
  ])('%j stops at byte %i', (text, at) => {
    expect(faultIn(text)).toBe(at);
    expect(isParsed(text)).toBe(false);
  });

  it.each([
    '{}',
    '[]',
    ' [ 1 , -0.5e-7 , true,null,"" ] ',
    '{"":{"__proto__":[{}]}}',
    '"\\ud800\\"\\u00E4ü€"',
    '0',
    'null\n',
  ])('%s is JSON', (text) => {
    expect(faultIn(text)).toBeUndefined();
    expect(isParsed(text)).toBe(true);
  });

  it('agrees with JSON.parse about any text', () => {
    const part = fc.constantFrom(...'{}[],:"\\ \n01.eE+-tfn', 'true', 'false', 'null', '"a"', '\\u00e4', 'x', 'ü');
    const likely = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));
    const broken = fc
      .tuple(fc.json(), fc.nat(200), part)
      .map(([text, at, more]) => text.slice(0, at) + more + text.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(fc.json(), likely, broken), (text) => {
        expect(faultIn(text) === undefined, text).toBe(isParsed(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('bytes that are no UTF-8 are no JSON', () => {
    expect(faultIn(Buffer.from([0x22, 0xff, 0x22]))).toBe(0);
  });

  it('takes one pause for each 64 kB of values, and no JSON has more than 10,000 levels', () => {
    const pauses = (body: string): number => [...jsonFaultIn(Buffer.from(body))].length;
    expect(pauses(`[${'1,'.repeat(500_000)}1]`)).toBeGreaterThan(10);
    const long = ['a', '\\n', '\\u00e4', '\\\\'].map((part) => `{"${part.repeat(300_000)}":"${part.repeat(300_000)}"}`);
    for (const body of [...long, `[1${' '.repeat(1_000_000)},1]`, `{"a"${'\n'.repeat(1_000_000)}:1}`]) {
      expect(faultIn(body)).toBeUndefined();
      expect(pauses(body), body.slice(0, 9)).toBeGreaterThan(body.length / 70_000 - 2);
    }
    expect(faultIn('['.repeat(20_000_000))).toBe(10_000);
    // A number is examined in one turn.
    for (const number of ['1'.repeat(65_536), `-0.${'1'.repeat(65_533)}`, `1e${'1'.repeat(65_534)}`]) {
      expect(faultIn(`[${number}]`), number.slice(0, 3)).toBe(1);
      expect(faultIn(`[${number.slice(0, -1)}]`), number.slice(0, 3)).toBeUndefined();
    }
    expect(faultIn(`${'['.repeat(10_000)}${']'.repeat(10_000)}`)).toBeUndefined();
  });
});
