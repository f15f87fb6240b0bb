import { defer, Observable, type ObservableInput, Subscription } from 'rxjs';
import type { Backend } from '../../backends/index.js';
import { after } from '../../platform/index.js';
import { CallbackTimeoutError } from './letter-errors.js';

/** The longest pause, in milliseconds, unless the first pause is longer. */
const longestPause = 60_000;

/** The failures of a pipeline in a row, and the milliseconds until it restarts. */
export interface Failed {
  readonly times: number;
  readonly pause: number;
  /** True if the error differs from that of the failure before. */
  readonly isNew: boolean;
}

/**
 * Subscribes to a pipeline, and again whenever it fails: after a pause that doubles each time, up to a minute. A pipeline that ran
 * for longer than its last pause had recovered, and its next pause is the first one again. The time that a pipeline waited for a
 * function which did not answer is not counted. A pipeline that completes is not restarted.
 * @param begin makes the pipeline; an error that it throws counts as a failure
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
        // An error of the report does not end the pipeline.
      }
      ended.add(clockTimer(clock, clock.now() + rest).subscribe(() => round(ended)));
    };
    ended.add(defer(begin).subscribe({ error: fail }));
  };
  const ended = new Subscription();
  round(ended);
  return ended;
}

/** Milliseconds for which the pipeline only waited for a function that did not answer. */
const waitedOf = (failure: unknown): number => (failure instanceof CallbackTimeoutError ? failure.within : 0);

/** The text of a thrown value. Making it may throw as well. */
export function textOf(failure: unknown): string {
  try {
    return String(failure);
  } catch {
    return 'a failure that cannot be shown';
  }
}

/** Emits once, at a time of the broker's clock; at once if that time is past. @param time milliseconds since 1970 */
export const clockTimer = (clock: Backend['clock'], time: number): Observable<void> =>
  new Observable((subscriber) => {
    const ring = (): void => {
      subscriber.next();
      subscriber.complete();
    };
    const wait = Math.ceil(time - clock.now());
    if (wait > 0) return after(clock, wait, ring);
    return ring();
  });
