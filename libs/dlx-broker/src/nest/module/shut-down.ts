import { isThenable, shownText } from '../../platform/index.js';
import type { EventLog } from '../log/event-log.js';
import { errorFacts, stackOf, textOf } from '../core/failure-log.js';

/** Logs the letters of each queue that a stream had in hand. */
export function logReturned(log: EventLog, unsettled: ReadonlyMap<string, number>): void {
  for (const [name, count] of unsettled) {
    const queue = shownText(name);
    const text = `${count} letters of '${queue}' were unsettled in a stream and return to the queue`;
    log.write('lettersReturned', text, { queue, count });
  }
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
