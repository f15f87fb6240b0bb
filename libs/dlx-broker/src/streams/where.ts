import type { MonoTypeOperatorFunction, OperatorFunction } from 'rxjs';
import { notAPromise } from '../topology/index.js';
import type { DeadLetter } from './dead-letter.js';
import { heeding } from './heeding.js';

/**
 * What becomes of a letter that a stream does not want.
 * - `leave`: it stays in its queue until the stream ends, and does not hold up those behind it. The default.
 * - `ack`: it is gone.
 * - `reject`: to the dead-letter exchange of its queue; gone if there is none.
 * - `requeue`: back to its place, from where it is delivered at once: only if other consumers are there to take it,
 *   otherwise it goes round without a pause.
 * - a function: settles it, now or later. Until it does, the letter counts as left. What it throws or rejects with fails the stream.
 */
export type Otherwise<L extends DeadLetter = DeadLetter> =
  'leave' | 'ack' | 'reject' | 'requeue' | ((letter: L) => unknown);

export interface WhereOptions<L extends DeadLetter = DeadLetter> {
  readonly otherwise?: Otherwise<L>;
}

/** Lets through the letters that pass a test; the others are treated as `otherwise` says. A type guard narrows the letters. */
export function where<L extends DeadLetter, Fits extends L>(
  test: (letter: L) => letter is Fits,
  options?: WhereOptions<L>,
): OperatorFunction<L, Fits>;
export function where<L extends DeadLetter>(
  test: (letter: L) => boolean,
  options?: WhereOptions<L>,
): MonoTypeOperatorFunction<L>;
export function where<L extends DeadLetter>(
  test: (letter: L) => boolean,
  { otherwise = 'leave' }: WhereOptions<L> = {},
): MonoTypeOperatorFunction<L> {
  return heeding((letter, heed) => {
    if (notAPromise(test(letter), 'where: the test')) return true;
    if (typeof otherwise === 'function') heed(otherwise(letter));
    else letter[otherwise]();
    letter.leave(); // no effect on what is settled
    return false;
  });
}
