import { DlxConfigurationError } from './configuration-error.js';

/**
 * Lets an answer of a user's function pass unless it is a promise. One that fails later is handled: it would end the process.
 * @throws DlxConfigurationError naming the function
 */
export function notAPromise<T>(answer: T, origin: string): T {
  if (typeof (answer as { readonly then?: unknown } | null | undefined)?.then !== 'function') return answer;
  Promise.resolve(answer).catch(() => undefined);
  throw new DlxConfigurationError(`${origin} answered a promise; it has to answer at once, so it cannot be async`);
}
