import { PatternError, type Patterns } from '../../engine/broker/index.js';
import { codes, Problem } from '../http/reply.js';

/** The most characters of a pattern in a refusal: a reason is cut, and RabbitMQ's has the fault behind the pattern. */
const longestShown = 500;

/**
 * Refuses permissions with an invalid pattern. The reason is RabbitMQ's Erlang term. The message of the problem, which the log and
 * the command line show, names the permission.
 * @param all the patterns by the right that each is for
 * @param whose user and virtual host, for people
 * @param show how the pattern itself is shown in RabbitMQ's term
 * @throws Problem 400 for the first that is none
 */
export function checkPatterns(
  patterns: Patterns,
  all: Readonly<Record<string, string>>,
  whose: string,
  show: (pattern: string) => unknown = codes,
): void {
  for (const [right, pattern] of Object.entries(all)) {
    try {
      patterns.compile(pattern);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      const term = ['invalid_regexp', show(pattern.slice(0, longestShown)), [codes(error.reason), error.position]];
      throw new Problem(400, 'bad_request', term, {}, error.of(right, pattern, whose).message);
    }
  }
}
