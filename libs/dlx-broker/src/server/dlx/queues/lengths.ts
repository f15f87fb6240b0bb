import type { Queue } from '../../../engine/broker/index.js';
import { queueSeries } from '../../statistics/series.js';
import type { Statistics } from '../../statistics/statistics.js';

const lengthIndex = queueSeries.names.indexOf('messages_ready');

/** One sample of this many is shown: the list has a small chart for each queue. */
const step = 2;

/** The number of values, for five minutes. */
const points = 31;

/**
 * The numbers of ready messages of a queue in the last five minutes, oldest first, one for each ten seconds. Null before the queue was
 * there, or the port was open.
 */
export function lengthsOf(statistics: Statistics): (queue: Queue) => readonly (number | null)[] {
  const { recentTimes } = statistics;
  const times = recentTimes.filter((_, index) => (recentTimes.length - 1 - index) % step === 0);
  const before = new Array<null>(Math.max(0, points - times.length)).fill(null);
  return (queue) => {
    const history = statistics.history(queue);
    return [...before, ...times.slice(-points).map((time) => history?.at(time)?.[lengthIndex] ?? null)];
  };
}
