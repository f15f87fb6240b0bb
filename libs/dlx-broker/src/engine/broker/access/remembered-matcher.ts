import type { Matcher, Patterns } from '../patterns.js';

/** The most remembered results of one pattern. */
const cacheLimit = 1_000;

/** The pattern of a permission, with its results for earlier names. */
export class RememberedMatcher implements Matcher {
  readonly #matcher: Matcher;
  readonly #answers = new Map<string, boolean>();

  /** @throws PatternError for an invalid regular expression */
  constructor(pattern: string, patterns: Patterns) {
    // In RabbitMQ an empty pattern matches the empty name only.
    this.#matcher = patterns.compile(pattern === '' ? '^$' : pattern);
  }

  matches(name: string): boolean {
    const known = this.#answers.get(name);
    if (known !== undefined) return known;
    const answer = this.#matcher.matches(name);
    if (this.#answers.size >= cacheLimit) this.#answers.clear();
    this.#answers.set(name, answer);
    return answer;
  }
}
