import { groupLetters, type GroupLetters } from './group-letters.js';

/** One stream per work queue, in which the letters failed at first. */
export const groupByQueue = <T>(): GroupLetters<T> => groupLetters(({ workQueue }) => workQueue);
