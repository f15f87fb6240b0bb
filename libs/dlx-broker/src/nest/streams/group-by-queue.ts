import type { ConsumedLetter } from './consumed-letter.js';
import { groupLetters, type GroupLetters } from './group-letters.js';

/** One stream for each work queue, which is the queue in which a letter failed at first. */
export const groupByQueue = <L extends ConsumedLetter>(): GroupLetters<L> => groupLetters(({ workQueue }) => workQueue);
