import type { MonoTypeOperatorFunction, OperatorFunction } from 'rxjs';
import { notAPromise, refused } from '../../platform/options/index.js';
import type { ConsumedLetter } from './consumed-letter.js';
import { checkFunction, checkOptions, withinOf, type WithinOption } from './given.js';
import { callbackFilter } from './callback-filter.js';

/**
 * What happens to a letter that does not pass.
 * - `leave`: it stays in its queue until the stream ends, and later letters pass it. The default.
 * - `ack`: it is acknowledged, and leaves the queue for good.
 * - `reject`: it goes to the dead-letter exchange of its queue; without one it is deleted.
 * - `requeue`: it returns to its place and is delivered again at once. Use it only if the queue has other consumers; otherwise the
 *   same letter is delivered to this stream without a pause.
 * - a function: settles the letter, now or later. Until then the letter counts as left. The stream fails when the function throws,
 *   when its promise rejects, and when the promise stays unsettled for longer than `within`.
 */
export type Otherwise<L extends ConsumedLetter = ConsumedLetter> =
  'leave' | 'ack' | 'reject' | 'requeue' | ((letter: L) => unknown);

/** What happens to letters that do not pass. */
export interface WhereOptions<L extends ConsumedLetter = ConsumedLetter> extends WithinOption {
  /** Default `leave`. */
  readonly otherwise?: Otherwise<L>;
}

/**
 * Passes on letters for which a test returns true; `otherwise` decides about the others. A type guard narrows the
 * letters.
 * @throws DlxConfigurationError at once for a test that is no function, and for unknown or impossible options
 */
export function where<L extends ConsumedLetter, Fits extends L>(
  test: (letter: L) => letter is Fits,
  options?: WhereOptions<L>,
): OperatorFunction<L, Fits>;
export function where<L extends ConsumedLetter>(
  test: (letter: L) => boolean,
  options?: WhereOptions<L>,
): MonoTypeOperatorFunction<L>;
export function where<L extends ConsumedLetter>(
  test: (letter: L) => boolean,
  options: WhereOptions<L> = {},
): MonoTypeOperatorFunction<L> {
  checkFunction(test, 'where: the test', '(letter) => true');
  return whereAs('where', test, options);
}

/** @internal The operator {@link where} with another name in its errors. */
export function whereAs<L extends ConsumedLetter>(
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
    letter.leave(); // no effect on a settled letter
    return false;
  }, limit);
}

const settlements: readonly unknown[] = ['leave', 'ack', 'reject', 'requeue'] satisfies readonly Otherwise[];
const whereOptions: readonly string[] = ['otherwise', 'within'] satisfies readonly (keyof WhereOptions)[];
