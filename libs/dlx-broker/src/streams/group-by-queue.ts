import type { DeadLetter } from './dead-letter.js';
import { groupLetters, type GroupLetters } from './group-letters.js';

/** One stream per work queue, in which the letters failed at first. */
export const groupByQueue = <L extends DeadLetter>(): GroupLetters<L> => groupLetters(({ workQueue }) => workQueue);
