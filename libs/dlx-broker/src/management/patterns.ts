import { PatternError, type Patterns } from '../broker/index.js';
import { badRequest, codes } from './reply.js';

/**
 * The reason that RabbitMQ gives for a pattern of permissions that is none, lists of characters and all.
 * @param show how the pattern itself is shown
 * @throws Problem 400 for the first that is none
 */
export function checkPatterns(
  patterns: Patterns,
  all: readonly string[],
  show: (pattern: string) => unknown = codes,
): void {
  for (const pattern of all) {
    try {
      patterns.compile(pattern);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      throw badRequest(['invalid_regexp', show(pattern), [codes(error.reason), error.position]]);
    }
  }
}
