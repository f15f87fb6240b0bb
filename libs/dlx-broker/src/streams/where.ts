import type { MonoTypeOperatorFunction, OperatorFunction } from 'rxjs';
import { notAPromise, refused } from '../options/index.js';
import type { DeadLetter } from './dead-letter.js';
import { checkFunction, checkOptions, withinOf, type WithinOption } from './given.js';
import { callbackFilter } from './callback-filter.js';

/**
 * What happens to a letter that does not pass.
 * - `leave`: it stays in its queue until the stream ends, and does not hold up those behind it. The default.
 * - `ack`: it is gone.
 * - `reject`: to the dead-letter exchange of its queue; gone if there is none.
 * - `requeue`: back to its place, from where it is delivered at once: only if other consumers are there to take it,
 *   otherwise it goes round without a pause.
 * - a function: settles it, now or later. Until it does, the letter counts as left. What it throws or rejects with
 * fails
 *   the stream, and so does a promise of it that stays unsettled for longer than `within`.
 */
export type Otherwise<L extends DeadLetter = DeadLetter> =
  'leave' | 'ack' | 'reject' | 'requeue' | ((letter: L) => unknown);

/** What happens to letters that do not pass. */
export interface WhereOptions<L extends DeadLetter = DeadLetter> extends WithinOption {
  /** Default `leave`. */
  readonly otherwise?: Otherwise<L>;
}

/**
 * Passes on letters for which a test returns true; `otherwise` decides about the others. A type guard narrows the
 * letters.
 * @throws DlxConfigurationError at once for a test that is no function, and for unknown or impossible options
 */
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
  options: WhereOptions<L> = {},
): MonoTypeOperatorFunction<L> {
  checkFunction(test, 'where: the test', '(letter) => true');
  return whereAs('where', test, options);
}

/** @internal The same under the name of another operator, for its errors. */
export function whereAs<L extends DeadLetter>(
  operator: string,
  test: (letter: L) => boolean,
  options: WhereOptions<L> = {},
): MonoTypeOperatorFunction<L> {
  checkOptions(options, whereOptions, operator, "write { otherwise: 'ack' }");
  const { otherwise = 'leave' } = options;
  if (typeof otherwise !== 'function' && !settlements.includes(otherwise)) {
    throw refused(
      otherwise,
      `${operator}: otherwise`,
      `is none of ${settlements.join(', ')}, and no function of the letter`,
    );
  }
  const limit = { origin: `${operator}: otherwise`, within: withinOf(options, operator) };
  return callbackFilter((letter, watch) => {
    if (notAPromise(test(letter), `${operator}: the test`)) return true;
    if (typeof otherwise === 'function') watch(otherwise(letter));
    else letter[otherwise]();
    letter.leave(); // no effect on what is settled
    return false;
  }, limit);
}

const settlements: readonly unknown[] = ['leave', 'ack', 'reject', 'requeue'] satisfies readonly Otherwise[];
const whereOptions: readonly string[] = ['otherwise', 'within'] satisfies readonly (keyof WhereOptions)[];
