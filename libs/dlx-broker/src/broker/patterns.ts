/** A compiled pattern of a policy or a permission. */
export interface Matcher {
  /**
   * Unanchored, as RabbitMQ does it: `^` and `$` say otherwise. Never throws, and always answers soon.
   * @param cost counts the steps that this name took, for callers that ask for many names
   */
  matches(name: string, cost?: MatchCost): boolean;
}

/** Counts the steps of matching: twenty of them take about as long as one step of the scheduler. */
export interface MatchCost {
  steps: number;
}

/**
 * Regular expressions, lent to the core: patterns come from strangers, and an engine that backtracks without end would
 * stop the process. The implementation has to ensure that.
 */
export interface Patterns {
  /** @throws PatternError when it is no regular expression */
  compile(pattern: string): Matcher;
}

/** A pattern is no regular expression: the reason with RabbitMQ's text, and the position. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
  readonly reason: string;
  /** Characters before the fault. */
  readonly position: number;

  /** @param permission which permission it is, and whose, where that is known */
  constructor(reason: string, position: number, permission?: string) {
    super(`${permission === undefined ? '' : `${permission} is no regular expression: `}${reason} at ${position}`);
    this.reason = reason;
    this.position = position;
  }

  /** The same fault, named as a permission. @param whose user and virtual host: `of user 'a' in vhost '/'` */
  of(right: string, pattern: string, whose: string): PatternError {
    return new PatternError(this.reason, this.position, `the ${right} permission '${pattern}' ${whose}`);
  }
}
