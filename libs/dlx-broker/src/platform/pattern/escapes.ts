import { classes, property } from './characters.js';
import type { CodeSet } from './code-set.js';
import type { Reader } from './reader.js';

const controls: ReadonlyMap<string, number> = new Map([
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['f', 12],
  ['e', 27],
  ['a', 7],
]);

/** Reads what stands after a backslash: one character, or a class of them. */
export function escapedCode(input: Reader): number | CodeSet {
  const hexadecimal = input.takeMatch(/x(?:\{([0-9a-fA-F]{1,4})\}|([0-9a-fA-F]{0,2}))/y);
  if (hexadecimal !== undefined) return Number.parseInt(hexadecimal[1] ?? `0${hexadecimal[2]}`, 16);
  const octal = input.takeMatch(/[0-7]{1,3}/y);
  if (octal !== undefined) return octalCode(input, Number.parseInt(octal[0], 8));
  const named = input.takeMatch(/([pP])(?:\{(\^?)(\w+)\}|(\w))/y);
  if (named !== undefined) return propertyIn(input, named);
  const { next } = input;
  if (next === undefined) throw input.fault('\\ at end of pattern', input.text.length);
  input.at++;
  return classes.get(next) ?? controls.get(next) ?? next.charCodeAt(0);
}

function octalCode(input: Reader, code: number): number {
  if (code > 0o377) throw input.fault('octal value is greater than \\377 in 8-bit non-UTF-8 mode', input.at - 1);
  return code;
}

function propertyIn(input: Reader, [, letter, caret, long, short]: readonly (string | undefined)[]): CodeSet {
  try {
    const found = property(long ?? short ?? '');
    return (letter === 'p') === (caret !== '^') ? found : found.inverse;
  } catch {
    throw input.fault('unknown property name after \\P or \\p');
  }
}
