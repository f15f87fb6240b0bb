import { groupLetters, type GroupLetters } from './group-letters.js';

/** One stream per reason of the latest death: `rejected`, `expired` ...; that of a letter that never died is empty. */
export const groupByReason = <T>(): GroupLetters<T> => groupLetters(({ deaths: [latest] }) => latest?.reason ?? '');
