import { codeRange, CodeSet } from './code-set.js';
import type { Fits } from './matching.js';

const between = (low: string, high: string): CodeSet => new CodeSet([codeRange(low.charCodeAt(0), high.charCodeAt(0))]);

export const not =
  (fits: Fits): Fits =>
  (code) =>
    !fits(code);

export const foldCase = (text: string): string => text.toLowerCase();

export const folded = (code: number): number => foldCase(String.fromCharCode(code)).charCodeAt(0);

export const raised = (code: number): number => String.fromCharCode(code).toUpperCase().charCodeAt(0);

/** One character, in either case if asked. */
export const character = (code: number, anyCase: boolean): Fits => {
  if (!anyCase) return (other) => other === code;
  const same = folded(code);
  return (other) => other === code || folded(other) === same;
};

export const lineEnd = CodeSet.of('\n');
const digit = between('0', '9');
const lower = between('a', 'z');
const upper = between('A', 'Z');
const letter = CodeSet.union(lower, upper);
const alphanumeric = CodeSet.union(letter, digit);
export const word = CodeSet.union(alphanumeric, CodeSet.of('_'));
const space = CodeSet.of(' \t\n\v\f\r');
const blank = CodeSet.of(' \t\u00a0');
const lineBreak = CodeSet.of('\n\v\f\r\u0085\u2028\u2029');

/** What a backslash and a letter stand for. */
export const classes: ReadonlyMap<string, CodeSet> = new Map([
  ['d', digit],
  ['D', digit.inverse],
  ['w', word],
  ['W', word.inverse],
  ['s', space],
  ['S', space.inverse],
  ['h', blank],
  ['H', blank.inverse],
  ['v', lineBreak],
  ['V', lineBreak.inverse],
  ['N', lineEnd.inverse],
]);

/** `[:alpha:]` and the like. */
export const posixClasses: ReadonlyMap<string, CodeSet> = new Map([
  ['alpha', letter],
  ['digit', digit],
  ['alnum', alphanumeric],
  ['lower', lower],
  ['upper', upper],
  ['space', space],
  ['blank', CodeSet.of(' \t')],
  ['punct', CodeSet.of('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~')],
  ['graph', between('!', '~')],
  ['print', between(' ', '~')],
  ['cntrl', CodeSet.union(between('\0', '\x1f'), CodeSet.of('\x7f'))],
  ['xdigit', CodeSet.union(digit, between('a', 'f'), between('A', 'F'))],
  ['word', word],
  ['ascii', between('\0', '\x7f')],
]);

const properties = new Map<string, CodeSet>();

/** The characters with a property of Unicode, such as `Lu`. They are looked up once. @throws SyntaxError for an unknown property */
export function property(name: string): CodeSet {
  let found = properties.get(name);
  if (found === undefined) {
    const one = new RegExp(`^\\p{${name}}`, 'u');
    found = CodeSet.where((code) => one.test(String.fromCharCode(code)));
    properties.set(name, found);
  }
  return found;
}
