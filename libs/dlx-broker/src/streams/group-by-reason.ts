import type { DeadLetter } from './dead-letter.js';
import { groupLetters, type GroupLetters } from './group-letters.js';

/** One stream per reason of the latest death: `rejected`, `expired` ...; that of a letter that never died is empty. */
export const groupByReason = <L extends DeadLetter>(): GroupLetters<L> =>
  groupLetters(({ deaths: [latest] }) => latest?.reason ?? '');
