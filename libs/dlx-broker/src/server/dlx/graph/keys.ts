import { exchangeTypes, wordsOf } from '../../../engine/broker/index.js';

/** The possible routing keys of a message: one key, or all keys that match a pattern of a topic exchange. */
export interface Keys {
  readonly text: string;
  readonly isPattern: boolean;
  readonly words: readonly string[];
  /** True if the pattern has a `#`, which stands for any number of words. */
  readonly isOpen: boolean;
}

export const oneKey = (text: string): Keys => ({ text, isPattern: false, words: wordsOf(text), isOpen: false });

function patternOf(text: string): Keys {
  const words = wordsOf(text);
  const isOpen = words.includes('#');
  return { text, isPattern: isOpen || words.includes('*'), words, isOpen };
}

export const anyKey: Keys = patternOf('#');

/** The keys that pass a binding of an exchange of this type. */
export function keysOf(type: string, bindingKey: string): Keys {
  const keys = exchangeTypes.get(type)?.keys;
  if (keys === 'equal') return oneKey(bindingKey);
  return keys === 'pattern' ? patternOf(bindingKey) : anyKey;
}

export const isAny = ({ isOpen, words }: Keys): boolean => isOpen && words.every((word) => word === '#');

/** True if some key matches both: `a.b` matches `a.*` and `#.b`; no key matches `a.*` and `b.#` (rule P7). */
export function overlaps(one: Keys, other: Keys): boolean {
  if (one.isOpen || other.isOpen) return meetSomewhere(one, other);
  if (one.words.length !== other.words.length) return false;
  return one.words.every((word, at) => fits(one, word, other, other.words[at] as string));
}

/** Compares patterns of which at least one has a `#`: each `#` takes one more word, or ends. */
function meetSomewhere(one: Keys, other: Keys): boolean {
  const left = one.words;
  const right = other.words;
  const isMany = (keys: Keys, word: string | undefined): boolean => keys.isPattern && word === '#';
  /** Earlier results, by both positions: without them a row of `#` would take exponential time. */
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
