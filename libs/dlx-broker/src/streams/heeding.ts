import { Observable } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';

/**
 * A filter with functions of the application in it, which may be asynchronous although nothing waits for them: what such a
 * function rejects with fails the stream, as what it throws does, and is no unhandled rejection.
 * @param passes whether a letter passes; `heed` takes what a function of the application returned
 */
export const heeding =
  <L>(passes: (letter: L, heed: (answer: unknown) => void) => boolean): MonoTypeOperatorFunction<L> =>
  (source) =>
    new Observable((subscriber) => {
      const fail = (error: unknown): void => subscriber.error(error);
      const heed = (answer: unknown): void => {
        if (answer instanceof Promise || typeof (answer as PromiseLike<unknown> | null)?.then === 'function') {
          Promise.resolve(answer).catch(fail);
        }
      };
      return source.subscribe({
        next: (letter) => {
          try {
            if (passes(letter, heed)) subscriber.next(letter);
          } catch (error) {
            fail(error);
          }
        },
        error: fail,
        complete: () => subscriber.complete(),
      });
    });
