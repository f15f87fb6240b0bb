import { isThenable, shownText } from '../../platform/index.js';
import type { EventLog } from '../log/event-log.js';
import { errorFacts, stackOf, textOf } from '../core/failure-log.js';

type Counts = ReadonlyMap<string, number>;

const sum = (counts: Counts): number => [...counts.values()].reduce((total, count) => total + count, 0);

const byQueue = (counts: Counts): string =>
  [...counts].flatMap(([queue, count]) => (count === 0 ? [] : [`${count} of '${shownText(queue)}'`])).join(', ');

/**
 * Logs in one line what a shutdown waited for and what it left.
 * @param took how long it waited, in milliseconds
 * @param atWork messages that handlers had at its start, by queue
 * @param left those that returned to their queues
 * @param letters those that streams had unsettled
 */
export function logStopped(log: EventLog, took: number, atWork: Counts, left: Counts, letters: Counts): void {
  const [waited, returned, unsettled] = [atWork, left, letters].map(sum) as [number, number, number];
  const time = Math.round(took);
  const parts = [
    waited === 0 ? 'no message was at work' : `waited ${time} ms for messages at work: ${byQueue(atWork)}`,
    ...(returned === 0 ? [] : [`not finished, and back in their queues: ${byQueue(left)}`]),
    ...(unsettled === 0 ? [] : [`unsettled in streams, and back in their queues: ${byQueue(letters)}`]),
  ];
  const event = returned + unsettled === 0 ? 'stopped' : 'messagesReturned';
  log.write(event, `stopped; ${parts.join('; ')}`, { time, waited, returned, unsettled });
}

/** Logs a failure of a shutdown that goes on. */
export function logUnclosed(log: EventLog, error: unknown): void {
  log.write('closeFailed', `a step of the shutdown failed: ${textOf(error)}`, errorFacts(error), stackOf(error));
}

/**
 * Takes each step of a shutdown, also behind one that fails: what stayed open would keep the process alive, or a data directory locked.
 * Further failures are logged.
 * @throws what the first failing step threw, when all steps were taken
 */
export async function shutDown(log: EventLog, steps: readonly (() => unknown)[]): Promise<void> {
  let first: { readonly error: unknown } | undefined;
  for (const step of steps) {
    try {
      const result = step();
      if (isThenable(result)) await result;
    } catch (error) {
      if (first === undefined) first = { error };
      else logUnclosed(log, error);
    }
  }
  if (first !== undefined) throw first.error;
}
