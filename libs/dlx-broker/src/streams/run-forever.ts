import { defer, Subscription, type ObservableInput } from 'rxjs';
import type { Backend } from '../backend/index.js';
import { clockTimer } from './clock-timer.js';
import { CallbackTimeoutError } from './letter-errors.js';

/** Milliseconds that no pause is longer than, unless the first one is. */
const longestPause = 60_000;

/** The failures of a pipeline in a row, and the milliseconds until it restarts. */
export interface Failed {
  readonly times: number;
  readonly pause: number;
  /** Whether it failed of something else than the time before. */
  readonly isNew: boolean;
}

/**
 * Subscribes to a pipeline, and again whenever it fails: after a pause that doubles each time, up to a minute. One that had
 * run for longer than its last pause had recovered, and begins with the first pause again; the time that it only waited
 * for a function which did not answer is not counted. One that completes is over.
 * @param begin what throws counts as a failure
 * @param pause the first one, in milliseconds
 */
export function runForever(
  clock: Backend['clock'],
  begin: () => ObservableInput<unknown>,
  pause: number,
  report: (failure: unknown, failed: Failed) => void,
): Subscription {
  const most = Math.max(pause, longestPause);
  let times = 0;
  let rest = 0;
  let last: string | undefined;
  const round = (ended: Subscription): void => {
    const since = clock.now();
    const fail = (failure: unknown): void => {
      if (ended.closed) return;
      if (clock.now() - since - waitedOf(failure) > rest) times = 0;
      times++;
      rest = Math.min(most, pause * 2 ** (times - 1));
      const text = textOf(failure);
      const isNew = times === 1 || text !== last;
      last = text;
      try {
        report(failure, { times, pause: rest, isNew });
      } catch {
        // A report that fails is none; the pipeline goes on, and the process lives.
      }
      ended.add(clockTimer(clock, clock.now() + rest).subscribe(() => round(ended)));
    };
    ended.add(defer(begin).subscribe({ error: fail }));
  };
  const ended = new Subscription();
  round(ended);
  return ended;
}

/** Milliseconds that went by before it could fail. */
const waitedOf = (failure: unknown): number => (failure instanceof CallbackTimeoutError ? failure.within : 0);

/** Anything can be thrown. */
function textOf(failure: unknown): string {
  try {
    return String(failure);
  } catch {
    return 'a failure that cannot be shown';
  }
}
