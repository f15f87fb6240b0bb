import type { Fits } from './matching.js';

const between = (low: string, high: string): Fits => {
  const [first, last] = [low.charCodeAt(0), high.charCodeAt(0)];
  return (code) => code >= first && code <= last;
};

export const not =
  (fits: Fits): Fits =>
  (code) =>
    !fits(code);

export const some =
  (...all: readonly Fits[]): Fits =>
  (code) => {
    for (const fits of all) if (fits(code)) return true;
    return false;
  };

export const among = (text: string): Fits => {
  const codes = new Set(Array.from(text, (character) => character.charCodeAt(0)));
  return (code) => codes.has(code);
};

export const foldCase = (text: string): string => text.toLowerCase();

const folded = (code: number): number => foldCase(String.fromCharCode(code)).charCodeAt(0);

/** One character, in either case if asked. */
export const character = (code: number, anyCase: boolean): Fits => {
  if (!anyCase) return (other) => other === code;
  const same = folded(code);
  return (other) => other === code || folded(other) === same;
};

export const range = (low: number, high: number, anyCase: boolean): Fits => {
  const within: Fits = (code) => code >= low && code <= high;
  if (!anyCase) return within;
  return (code) => {
    const text = String.fromCharCode(code);
    return within(code) || within(folded(code)) || within(text.toUpperCase().charCodeAt(0));
  };
};

export const lineEnd: Fits = (code) => code === 10;
const digit = between('0', '9');
const lower = between('a', 'z');
const upper = between('A', 'Z');
const letter = some(lower, upper);
export const word = some(letter, digit, among('_'));
const space = among(' \t\n\v\f\r');
const blank = among(' \t\u00a0');
const graph = between('!', '~');

/** What a backslash and a letter stand for. */
export const classes: ReadonlyMap<string, Fits> = new Map([
  ['d', digit],
  ['D', not(digit)],
  ['w', word],
  ['W', not(word)],
  ['s', space],
  ['S', not(space)],
  ['h', blank],
  ['H', not(blank)],
  ['v', among('\n\v\f\r\u0085\u2028\u2029')],
  ['V', not(among('\n\v\f\r\u0085\u2028\u2029'))],
  ['N', not(lineEnd)],
]);

/** `[:alpha:]` and the like. */
export const posixClasses: ReadonlyMap<string, Fits> = new Map([
  ['alpha', letter],
  ['digit', digit],
  ['alnum', some(letter, digit)],
  ['lower', lower],
  ['upper', upper],
  ['space', space],
  ['blank', among(' \t')],
  ['punct', (code) => graph(code) && !letter(code) && !digit(code)],
  ['graph', graph],
  ['print', between(' ', '~')],
  ['cntrl', (code) => code < 32 || code === 127],
  ['xdigit', some(digit, between('a', 'f'), between('A', 'F'))],
  ['word', word],
  ['ascii', (code) => code < 128],
]);
