import { from, type Observable } from 'rxjs';
import { DlxContext } from '../core/context.js';
import { readResultsBefore } from './nest-versions.js';

type Generated = Generator | AsyncGenerator;

/**
 * The values of a generator as a stream: its body would not run otherwise. Other iterables, such as a stream of Node, are values.
 * @returns any other result as it is
 */
export const iterated = (result: unknown): unknown => (isGenerator(result) ? valuesOf(result) : result);

/** Iterates what the handlers of this library return, before interceptors and exception filters get it. */
export const iterateResults = (): void => readResultsBefore((args) => args[1] instanceof DlxContext, iterated);

function isGenerator(result: unknown): result is Generated {
  if (typeof result !== 'object' || result === null) return false;
  try {
    const { next, throw: fail } = result as Partial<Generated>;
    const isIterable = Symbol.asyncIterator in result || Symbol.iterator in result;
    return typeof next === 'function' && typeof fail === 'function' && isIterable;
  } catch {
    return false; // a value that cannot be read fails later
  }
}

const valuesOf = (values: Generated): Observable<unknown> =>
  from(Symbol.asyncIterator in values ? values : awaited(values));

/** The values of a generator that is not async may be promises. */
async function* awaited(values: Generator): AsyncGenerator<unknown, void> {
  yield* values;
}
