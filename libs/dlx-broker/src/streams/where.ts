import { filter } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import type { DeadLetter } from './dead-letter.js';

/**
 * What becomes of a letter that a stream does not want.
 * - `leave`: it stays in its queue until the stream ends, and does not hold up those behind it. The default.
 * - `ack`: it is gone.
 * - `reject`: to the dead-letter exchange of its queue; gone if there is none.
 * - `requeue`: back to its place, from where it is delivered at once: only if other consumers are there to take it,
 *   otherwise it goes round without a pause.
 * - a function: settles it, now or later. Until it does, the letter counts as left.
 */
export type Otherwise<T> = 'leave' | 'ack' | 'reject' | 'requeue' | ((letter: DeadLetter<T>) => unknown);

export interface WhereOptions<T> {
  readonly otherwise?: Otherwise<T>;
}

/** Lets through the letters that pass a test; the others are treated as `otherwise` says. */
export const where = <T>(
  test: (letter: DeadLetter<T>) => boolean,
  { otherwise = 'leave' }: WhereOptions<T> = {},
): MonoTypeOperatorFunction<DeadLetter<T>> =>
  filter((letter) => {
    if (test(letter)) return true;
    if (typeof otherwise === 'function') otherwise(letter);
    else letter[otherwise]();
    letter.leave(); // no effect on what is settled
    return false;
  });
