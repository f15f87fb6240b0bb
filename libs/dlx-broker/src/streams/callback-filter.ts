import { Observable } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { after } from '../host/index.js';

import type { DeadLetter } from './dead-letter.js';
import { CallbackTimeoutError } from './letter-errors.js';

/** An asynchronous function of the application inside an operator. */
export interface CallbackLimit {
  /** Which one, for the error: `tapDeaths: look`. */
  readonly origin: string;
  /** Milliseconds it may take; undefined: for ever. */
  readonly within: number | undefined;
}

/**
 * A filter with functions of the application in it, which may be asynchronous although nothing waits for them: what such a
 * function rejects with fails the stream, as what it throws does, and is no unhandled rejection. One that does not
 * answer in time fails the stream as well. At the end of the stream nothing of it is left but the promises themselves.
 * @param passes whether a letter passes; `watch` takes what a function of the application returned
 */
export const callbackFilter =
  <L extends DeadLetter>(
    passes: (letter: L, watch: (answer: unknown) => void) => boolean,
    { origin, within }: CallbackLimit,
  ): MonoTypeOperatorFunction<L> =>
  (source) =>
    new Observable((subscriber) => {
      const limits = new Set<() => void>();
      subscriber.add(() => {
        for (const callOff of limits) callOff();
        limits.clear();
      });
      const fail = (error: unknown): void => subscriber.error(error);
      /** @returns what calls it off */
      const limit = (letter: L): (() => void) => {
        if (within === undefined || subscriber.closed) return doNothing;
        const callOff = after(letter.clock, within, () => {
          limits.delete(callOff);
          const error = new CallbackTimeoutError(origin, letter.queue, within);
          letter.unanswered(error);
          fail(error);
        });
        limits.add(callOff);
        return () => {
          if (limits.delete(callOff)) callOff();
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

const doNothing = (): void => undefined;
