import type { MatchCost, Matcher, Patterns } from '../engine/broker/index.js';
import type { Attempt, Piece } from './pattern/matching.js';
import { type Parsed, Parser } from './pattern/parser.js';

/** The steps allowed for one name: some milliseconds. Ordinary patterns need dozens. */
const maxSteps = 20_000;

/** The lowest limit of a pattern that took too many steps. */
const minSteps = 500;

/**
 * Matches the patterns of policies and permissions in counted steps, so that no pattern can block the process.
 */
export const policyPatterns: Patterns = {
  compile: (pattern) => new SteppedMatcher(new Parser(pattern).parse()),
};

class SteppedMatcher implements Matcher {
  readonly start: string | undefined;
  readonly #piece: Piece;
  #limit = maxSteps;

  constructor({ piece, start }: Parsed) {
    this.#piece = piece;
    this.start = start;
  }

  /** A name that takes too many steps does not match, as in RabbitMQ. After it, the limit of this pattern is lower. */
  matches(name: string, cost?: MatchCost): boolean {
    if (this.start !== undefined && !name.startsWith(this.start)) return false;
    const attempt: Attempt = { text: name, steps: this.#limit, depth: 0, groups: [] };
    const before = this.#limit;
    const matched = this.#tried(attempt, name);
    if (cost !== undefined) cost.steps += before - Math.max(0, attempt.steps);
    return matched;
  }

  #tried(attempt: Attempt, name: string): boolean {
    const last = this.start === undefined ? name.length : 0;
    for (let from = 0; from <= last && attempt.steps >= 0; from++) {
      attempt.groups.length = 0;
      if (this.#piece(attempt, from, accept)) return attempt.steps >= 0;
      attempt.steps--;
    }
    if (attempt.steps < 0) this.#limit = Math.max(minSteps, this.#limit >> 2);
    return false;
  }
}

const accept = (): boolean => true;
