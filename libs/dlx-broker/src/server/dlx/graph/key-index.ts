import type { Keys } from './keys.js';

/** The number of words at the beginning of a key that are indexed. */
const indexedWords = 3;

interface Place<T> {
  /** The items whose keys all have this word at this place. */
  readonly byWord: Map<string, T[]>;
  /** The items whose keys may have any word at this place. */
  readonly open: T[];
}

/**
 * Items by the first words of their keys: finds the items that may have a key in common with a pattern, without a look at
 * every item. So 10,000 patterns need not be compared with 10,000 keys each.
 */
export class KeyIndex<T> {
  readonly #all: T[] = [];
  readonly #places: readonly Place<T>[] = Array.from({ length: indexedWords }, () => ({
    byWord: new Map<string, T[]>(),
    open: [],
  }));

  add(item: T, keys: Keys): void {
    this.#all.push(item);
    for (const [at, { byWord, open }] of this.#places.entries()) {
      const word = wordAt(keys, at);
      if (word === 'any') open.push(item);
      if (typeof word !== 'object') continue;
      const known = byWord.get(word.is);
      if (known === undefined) byWord.set(word.is, [item]);
      else known.push(item);
    }
  }

  /** Lists with all items that may have a key in common with these keys, and with others. */
  candidates(keys: Keys): readonly (readonly T[])[] {
    let best: readonly (readonly T[])[] = [this.#all];
    for (const [at, { byWord, open }] of this.#places.entries()) {
      const word = wordAt(keys, at);
      if (typeof word !== 'object') continue;
      const lists = [byWord.get(word.is) ?? [], open];
      if (countOf(lists) < countOf(best)) best = lists;
    }
    return best;
  }
}

const countOf = (lists: readonly (readonly unknown[])[]): number => lists.reduce((sum, { length }) => sum + length, 0);

/** What keys have at a place: one word, any word or none. */
function wordAt({ words, isPattern }: Keys, at: number): { readonly is: string } | 'any' | 'none' {
  for (let before = 0; isPattern && before <= at && before < words.length; before++) {
    if (words[before] === '#') return 'any';
  }
  const word = words[at];
  if (word === undefined) return 'none';
  return isPattern && word === '*' ? 'any' : { is: word };
}
