import { matchesPattern } from '../../backends/topology/index.js';
import type { Handler, PlannedHandler } from './handler.js';

/** The handlers of a queue that a key selects: patterns of requests are compared as text, others have wildcards. */
export const handlersFor = (handlers: readonly PlannedHandler[], key: string): readonly PlannedHandler[] =>
  handlers.filter(({ handler }) => handles(handler, key));

const handles = ({ patterns, kind }: Handler, key: string): boolean =>
  patterns.length === 0 || patterns.some((pattern) => (kind === 'request' ? pattern === key : fits(pattern, key)));

/** The longest key that is compared with wildcards, in characters. A packet may have a pattern of many megabytes. */
const longestKey = 4_096;

const fits = (pattern: string, key: string): boolean =>
  key.length > longestKey ? pattern === '#' || pattern === key : matchesPattern(pattern, key);
