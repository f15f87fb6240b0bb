import type { ConsumedLetter } from './consumed-letter.js';
import { groupLetters, type GroupLetters } from './group-letters.js';

/** One stream for each reason of the latest death: `rejected`, `expired` ... The reason of a letter that never died is ''. */
export const groupByReason = <L extends ConsumedLetter>(): GroupLetters<L> =>
  groupLetters(({ deaths: [latest] }) => latest?.reason ?? '');
