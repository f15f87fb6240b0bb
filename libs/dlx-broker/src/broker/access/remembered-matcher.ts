import type { Matcher, Patterns } from '../patterns.js';

/** Answers remembered of one pattern. */
const cacheLimit = 1_000;

/** The pattern of a permission, and what it said of names asked before. */
export class RememberedMatcher implements Matcher {
  readonly #matcher: Matcher;
  readonly #answers = new Map<string, boolean>();

  /** @throws PatternError when it is no regular expression */
  constructor(pattern: string, patterns: Patterns) {
    // RabbitMQ reads an empty pattern as one that fits the empty name only.
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
