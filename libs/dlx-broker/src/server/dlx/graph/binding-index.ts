import {
  type Destination,
  type Exchange,
  exchangeTypes,
  type Queue,
  type VirtualHost,
  wordsOf,
} from '../../../engine/broker/index.js';
import type { FieldTable } from '../../../engine/message/index.js';

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

/** A binding, with its source exchange. */
export interface IndexedBinding {
  readonly exchange: Exchange;
  readonly destination: Destination;
  readonly bindingKey: string;
  readonly arguments: FieldTable;
  /** The routing keys that pass the binding. */
  readonly keys: Keys;
}

/** An index of all bindings of a virtual host, by source and by destination, as they were when it was made. */
export class BindingIndex {
  readonly #from = new Map<Exchange, readonly IndexedBinding[]>();
  readonly #into = new Map<Destination, IndexedBinding[]>();
  /** Made when it is needed: few exchanges are asked for patterns. */
  readonly #indexes = new Map<Exchange, KeyIndex<IndexedBinding>>();

  private constructor(readonly vhost: VirtualHost) {}

  /** Indexes all bindings; yields after each. */
  static *of(vhost: VirtualHost): Generator<void, BindingIndex, void> {
    const bindingIndex = new BindingIndex(vhost);
    const found = [...vhost.exchanges.values()].map((exchange) => ({ exchange, bindings: exchange.bindings() }));
    for (const { exchange, bindings } of found) {
      const indexed: IndexedBinding[] = [];
      bindingIndex.#from.set(exchange, indexed);
      for (const { destination, bindingKey, arguments: args } of bindings) {
        const keys = keysOf(exchange.routingType, bindingKey);
        bindingIndex.#add({ exchange, destination, bindingKey, arguments: args, keys }, indexed);
        yield;
      }
    }
    return bindingIndex;
  }

  #add(binding: IndexedBinding, from: IndexedBinding[]): void {
    from.push(binding);
    const into = this.#into.get(binding.destination);
    if (into === undefined) this.#into.set(binding.destination, [binding]);
    else into.push(binding);
  }

  from(exchange: Exchange): readonly IndexedBinding[] {
    return this.#from.get(exchange) ?? [];
  }

  /** Lists with all bindings of an exchange that some of the keys may pass. Yields after each binding that is indexed. */
  *candidates(exchange: Exchange, keys: Keys): Generator<void, readonly (readonly IndexedBinding[])[], void> {
    let index = this.#indexes.get(exchange);
    if (index === undefined) {
      index = new KeyIndex<IndexedBinding>();
      for (const binding of this.from(exchange)) {
        index.add(binding, binding.keys);
        yield;
      }
      this.#indexes.set(exchange, index);
    }
    return index.candidates(keys);
  }

  into(destination: Destination): readonly IndexedBinding[] {
    return this.#into.get(destination) ?? [];
  }
}

/** The routing keys with which messages reach a queue: those of its bindings, and its name for the default exchange. */
export function keysInto(queue: Queue, bindingIndex: BindingIndex): readonly Keys[] {
  const keys = new Map<string, Keys>([[`=${queue.name}`, oneKey(queue.name)]]);
  for (const { keys: key } of bindingIndex.into(queue)) {
    if (isAny(key)) return [anyKey];
    keys.set(`${key.isPattern ? '~' : '='}${key.text}`, key);
  }
  return [...keys.values()];
}
