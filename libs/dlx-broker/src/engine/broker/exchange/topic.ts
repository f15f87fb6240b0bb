import type { Message } from '../../message/index.js';
import { type Binding, Destinations, type Into, type Router } from './router.js';

const noWords: readonly string[] = [];

/** The words of a routing key or pattern. The empty key has no words, not an empty one (rule P7). */
export const wordsOf = (key: string): readonly string[] => (key === '' ? noWords : key.split('.'));

/** A word of a pattern, under the words before it. */
class Node<Destination> {
  readonly words = new Map<string, Node<Destination>>();
  readonly isHash: boolean;
  destinations: Destinations<Destination> | undefined;
  /** The number of the last search step that reached this node; a step adds a node once. */
  step = 0;

  constructor(isHash: boolean) {
    this.isHash = isHash;
  }

  get isEmpty(): boolean {
    return this.words.size === 0 && this.destinations === undefined;
  }
}

/** The patterns of a topic exchange, as a tree of words. `*` and `#` are nodes like others; only the search tells them apart. */
class TopicTrie<Destination> {
  readonly #root = new Node<Destination>(false);
  #step = 0;
  #here: Node<Destination>[] = [];
  #next: Node<Destination>[] = [];

  add(pattern: string, destination: Destination): void {
    let node = this.#root;
    for (const word of wordsOf(pattern)) {
      let child = node.words.get(word);
      if (child === undefined) node.words.set(word, (child = new Node(word === '#')));
      node = child;
    }
    node.destinations ??= new Destinations();
    node.destinations.add(destination);
  }

  remove(pattern: string, destination: Destination): void {
    const words = wordsOf(pattern);
    const path = [this.#root];
    for (const word of words) {
      const child = path[path.length - 1]!.words.get(word);
      if (child === undefined) return;
      path.push(child);
    }
    const last = path[path.length - 1]!;
    last.destinations?.remove(destination);
    if (last.destinations?.size === 0) last.destinations = undefined;
    for (let depth = words.length; depth > 0 && path[depth]!.isEmpty; depth--) {
      path[depth - 1]!.words.delete(words[depth - 1]!);
    }
  }

  /**
   * Walks all patterns at the same time, a word of the key at a time: never more steps than words times nodes. To follow each `#` on
   * its own could take exponential time.
   */
  match(key: string, into: Into<Destination>): void {
    this.#begin();
    this.#reach(this.#root);
    this.#swap();
    for (const word of wordsOf(key)) {
      if (this.#here.length === 0) return;
      this.#begin();
      for (let index = 0; index < this.#here.length; index++) this.#take(this.#here[index]!, word);
      this.#swap();
    }
    for (let index = 0; index < this.#here.length; index++) this.#here[index]!.destinations?.addTo(into);
    this.#here.length = 0;
  }

  #take(node: Node<Destination>, word: string): void {
    if (node.isHash) this.#reach(node);
    // In a key `*` and `#` are ordinary words, and must not match the nodes of the wildcards.
    const child = word === '*' || word === '#' ? undefined : node.words.get(word);
    if (child !== undefined) this.#reach(child);
    const anyWord = node.words.get('*');
    if (anyWord !== undefined) this.#reach(anyWord);
  }

  /** Adds a node, and every `#` behind it, because a `#` may stand for no word. */
  #reach(node: Node<Destination>): void {
    for (let each: Node<Destination> | undefined = node; each !== undefined; each = each.words.get('#')) {
      if (each.step === this.#step) return;
      each.step = this.#step;
      this.#next.push(each);
    }
  }

  #begin(): void {
    this.#step++;
    this.#next.length = 0;
  }

  #swap(): void {
    const here = this.#here;
    this.#here = this.#next;
    this.#next = here;
  }
}

/** The most destinations in the cache, over all keys. */
const cacheLimit = 16_384;

/** Binding keys are patterns of words: `*` is one word, `#` any number of them (rule P7). */
export class TopicRouter<Destination> implements Router<Destination> {
  readonly #trie = new TopicTrie<Destination>();
  /** Results of the trie by routing key. Cleared as a whole when it grows too large or a binding changes. */
  readonly #cache = new Map<string, readonly Destination[]>();
  #cached = 0;

  bind({ destination, bindingKey }: Binding<Destination>): void {
    this.#trie.add(bindingKey, destination);
    this.#forget();
  }

  unbind({ destination, bindingKey }: Binding<Destination>): void {
    this.#trie.remove(bindingKey, destination);
    this.#forget();
  }

  route(_message: Message, routingKey: string, into: Into<Destination>): void {
    const found = this.#cache.get(routingKey) ?? this.#search(routingKey);
    for (let index = 0; index < found.length; index++) into.add(found[index]!);
  }

  #search(routingKey: string): readonly Destination[] {
    const found = new Set<Destination>();
    this.#trie.match(routingKey, found);
    const destinations = [...found];
    this.#cached += 1 + destinations.length;
    if (this.#cached > cacheLimit) {
      this.#forget();
      this.#cached = 1 + destinations.length;
    }
    this.#cache.set(routingKey, destinations);
    return destinations;
  }

  #forget(): void {
    this.#cached = 0;
    if (this.#cache.size > 0) this.#cache.clear();
  }
}
