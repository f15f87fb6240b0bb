import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { after, doNothing } from '../../platform/index.js';

import type { ConsumedLetter } from './consumed-letter.js';
import { CallbackTimeoutError } from './letter-errors.js';

/** The time limit of a function of the application inside an operator. */
export interface CallbackLimit {
  /** The name of the function, for the error: `tapDeaths: look`. */
  readonly origin: string;
  /** The limit in milliseconds; undefined: none. */
  readonly within: number | undefined;
}

/**
 * A filter that calls functions of the application. Such a function may return a promise; the letter passes without waiting for
 * it. The stream fails when the function throws, when its promise rejects, and when the promise is not settled in time. The end of
 * the stream removes every timer.
 * @param passes returns true for a letter that passes, and calls `watch` with what a function of the application returned
 */
export const callbackFilter =
  <L extends ConsumedLetter>(
    passes: (letter: L, watch: (answer: unknown) => void) => boolean,
    { origin, within }: CallbackLimit,
  ): MonoTypeOperatorFunction<L> =>
  (source) =>
    new Observable((subscriber) => {
      const limits = new Set<() => void>();
      subscriber.add(() => {
        for (const cancel of limits) cancel();
        limits.clear();
      });
      const fail = (error: unknown): void => subscriber.error(error);
      /** Starts a timer. @returns a function that stops it */
      const limit = (letter: L): (() => void) => {
        if (within === undefined || subscriber.closed) return doNothing;
        const cancel = after(letter.clock, within, () => {
          limits.delete(cancel);
          const error = new CallbackTimeoutError(origin, letter.queue, within);
          letter.unanswered(error);
          fail(error);
        });
        limits.add(cancel);
        return () => {
          if (limits.delete(cancel)) cancel();
        };
      };
      return source.subscribe({
        next: (letter) => {
          const watch = (answer: unknown): void => {
            if (!(answer instanceof Promise) && typeof (answer as PromiseLike<unknown> | null)?.then !== 'function')
              return;
            const answered = limit(letter);
            Promise.resolve(answer).then(answered, (error: unknown) => {
              answered();
              fail(error);
            });
          };
          try {
            if (passes(letter, watch)) subscriber.next(letter);
          } catch (error) {
            fail(error);
          }
        },
        error: fail,
        complete: () => subscriber.complete(),
      });
    });
