import type { ConsumedLetter } from './consumed-letter.js';
import { groupLetters, type GroupLetters } from './group-letters.js';

/**
 * One stream for each class of errors in the header `dlx-error-class`. The class of a letter without the header is ''.
 */
export const groupByError = <L extends ConsumedLetter>(): GroupLetters<L> =>
  groupLetters(({ error }) => error?.name ?? '');
