import { exchangeTypes } from '../../../broker/index.js';

/** Routing keys a message may have, as far as bindings tell: one, or all that fit a pattern of a topic exchange. */
export interface Keys {
  readonly text: string;
  readonly isPattern: boolean;
  readonly words: readonly string[];
  /** Whether the pattern has a word that stands for any number of words. */
  readonly isOpen: boolean;
}

/** The empty key has no words (rule P7). */
const wordsOf = (key: string): readonly string[] => (key === '' ? [] : key.split('.'));

export const oneKey = (text: string): Keys => ({ text, isPattern: false, words: wordsOf(text), isOpen: false });

function patternOf(text: string): Keys {
  const words = wordsOf(text);
  const isOpen = words.includes('#');
  return { text, isPattern: isOpen || words.includes('*'), words, isOpen };
}

export const anyKey: Keys = patternOf('#');

/** Which keys a binding lets through. */
export function keysOf(type: string, bindingKey: string): Keys {
  const keys = exchangeTypes.get(type)?.keys;
  if (keys === 'equal') return oneKey(bindingKey);
  return keys === 'pattern' ? patternOf(bindingKey) : anyKey;
}

export const isAny = ({ isOpen, words }: Keys): boolean => isOpen && words.every((word) => word === '#');

/** Whether some key fits both: `a.*` and `#.b` do (`a.b`), `a.*` and `b.#` do not. Rule P7's words, on both sides. */
export function overlaps(one: Keys, other: Keys): boolean {
  if (one.isOpen || other.isOpen) return meetSomewhere(one, other);
  if (one.words.length !== other.words.length) return false;
  return one.words.every((word, at) => fits(one, word, other, other.words[at] as string));
}

/** With any number of words on a side: tries both ways on at each. */
function meetSomewhere(one: Keys, other: Keys): boolean {
  const left = one.words;
  const right = other.words;
  const isMany = (keys: Keys, word: string | undefined): boolean => keys.isPattern && word === '#';
  /** What was found out already, by both positions: without it a row of `#` would be exponential. */
  const known = new Map<number, boolean>();
  const meet = (at: number, atOther: number): boolean => {
    if (at === left.length && atOther === right.length) return true;
    const place = at * (right.length + 1) + atOther;
    let answer = known.get(place);
    if (answer !== undefined) return answer;
    const [word, otherWord] = [left[at], right[atOther]];
    if (isMany(one, word)) answer = meet(at + 1, atOther) || (atOther < right.length && meet(at, atOther + 1));
    else if (isMany(other, otherWord)) answer = meet(at, atOther + 1) || (at < left.length && meet(at + 1, atOther));
    else if (word === undefined || otherWord === undefined) answer = false;
    else answer = fits(one, word, other, otherWord) && meet(at + 1, atOther + 1);
    known.set(place, answer);
    return answer;
  };
  return meet(0, 0);
}

const fits = (one: Keys, word: string, other: Keys, otherWord: string): boolean =>
  word === otherWord || (one.isPattern && word === '*') || (other.isPattern && otherWord === '*');
