/** A compiled pattern of a policy or a permission. */
export interface Matcher {
  /** Names that do not begin with this text do not match. */
  readonly start?: string | undefined;
  /**
   * Matches anywhere in the name, as in RabbitMQ; `^` and `$` anchor the pattern. Never throws, and takes bounded time.
   * @param cost adds the steps of this match, for callers that match many names
   */
  matches(name: string, cost?: MatchCost): boolean;
}

/** Counts the steps of matching: twenty of them take about as long as one step of the scheduler. */
export interface MatchCost {
  steps: number;
}

/**
 * Regular expressions, provided by the host. Patterns come from clients, so an implementation must match in bounded time: an
 * engine that backtracks without end would stop the process.
 */
export interface Patterns {
  /** @throws PatternError when it is no regular expression */
  compile(pattern: string): Matcher;
}

/** The most characters of a pattern in a message. */
const longestShown = 500;

/** The error of a pattern that is no regular expression: RabbitMQ's reason, and the position. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
  readonly reason: string;
  /** Characters before the fault. */
  readonly position: number;

  /** @param permission names the permission, if the pattern is one */
  constructor(reason: string, position: number, permission?: string) {
    super(`${permission === undefined ? '' : `${permission} is no regular expression: `}${reason} at ${position}`);
    this.reason = reason;
    this.position = position;
  }

  /** The same fault, named as a permission. @param whose user and virtual host: `of user 'a' in vhost '/'` */
  of(right: string, pattern: string, whose: string): PatternError {
    const shown = pattern.length > longestShown ? `${pattern.slice(0, longestShown)}…` : pattern;
    return new PatternError(this.reason, this.position, `the ${right} permission '${shown}' ${whose}`);
  }
}

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
