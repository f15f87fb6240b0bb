import type { Message } from '../../message/index.js';
import type { Into } from './recipients.js';
import type { Binding, Router } from './router.js';
import { TopicTrie } from './topic-trie.js';

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
