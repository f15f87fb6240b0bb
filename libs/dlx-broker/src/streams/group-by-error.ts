import type { DeadLetter } from './dead-letter.js';
import { groupLetters, type GroupLetters } from './group-letters.js';

/**
 * One stream per class of the error a handler failed with, as the header `dlx-error-class` tells; that of a letter
 * without one is empty. Two thousand failures are often three errors.
 */
export const groupByError = <L extends DeadLetter>(): GroupLetters<L> => groupLetters(({ error }) => error?.name ?? '');
