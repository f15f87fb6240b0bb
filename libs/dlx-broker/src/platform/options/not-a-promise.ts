import { DlxConfigurationError } from './configuration-error.js';

/**
 * Returns the answer of a user's function unless it is a promise. A later rejection of the promise is handled, because it would
 * end the process.
 * @param remedy ends the error
 * @throws DlxConfigurationError naming the function
 */
export function notAPromise<T>(
  answer: T,
  origin: string,
  remedy = 'it has to answer at once, so it cannot be async',
): T {
  if (typeof (answer as { readonly then?: unknown } | null | undefined)?.then !== 'function') return answer;
  Promise.resolve(answer).catch(() => undefined);
  throw new DlxConfigurationError(`${origin} answered a promise; ${remedy}`);
}
