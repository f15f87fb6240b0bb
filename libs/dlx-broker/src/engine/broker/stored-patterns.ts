import { type Matcher, PatternError, type Patterns } from './patterns.js';

/** A policy or permissions with a pattern that matches nothing, because it is refused today. */
export interface RefusedPattern {
  /** Names the policy, or the permissions: `policy 'p' in vhost '/'`. */
  readonly of: string;
  /** RabbitMQ's reason, and the position. */
  readonly reason: string;
}

const nothing: Matcher = { matches: () => false };

/**
 * The patterns of a broker. One that was stored by an earlier version, and is refused today, must not stop the start: it matches no name
 * then, so permissions refuse.
 */
export class StoredPatterns implements Patterns {
  /** What was restored with a pattern that matches nothing. */
  readonly refused: RefusedPattern[] = [];
  readonly #patterns: Patterns;
  /** The faults of what is being restored. */
  #faults: PatternError[] | undefined;

  constructor(patterns: Patterns) {
    this.#patterns = patterns;
  }

  compile(pattern: string): Matcher {
    try {
      return this.#patterns.compile(pattern);
    } catch (error) {
      if (this.#faults === undefined || !(error instanceof PatternError)) throw error;
      this.#faults.push(error);
      return nothing;
    }
  }

  /** Restores what has patterns. @param of names it */
  restore(of: string, set: () => unknown): void {
    const faults: PatternError[] = (this.#faults = []);
    try {
      set();
    } finally {
      this.#faults = undefined;
    }
    if (faults[0] !== undefined) this.refused.push({ of, reason: faults[0].message });
  }
}
