import { catchError, from, isObservable, type Observable } from 'rxjs';
import { isThenable } from '../../platform/index.js';
import { DlxContext } from '../core/context.js';
import type { Handler } from '../core/handler.js';
import { refusedOr } from './capture.js';
import { type FoundEnhancers, readResultsBefore, type RpcExceptionsHandler, type RpcProxy } from './nest-versions.js';

type Method = (...args: unknown[]) => unknown;
type ArgumentsOf = (data: unknown, context: unknown) => unknown[];

/**
 * The arguments of a method that has no guards and no pipes. A parameter by a decorator of the application may be a promise, so Nest
 * reads it.
 * @returns undefined for a method of which Nest has to read the arguments
 */
export function plainArguments({ guards, pipes, parameters }: FoundEnhancers): ArgumentsOf | undefined {
  if (guards?.length !== 0 || pipes?.length !== 0 || parameters === undefined) return undefined;
  if (!parameters.every((each) => typeof each.type === 'number' && each.pipes.length === 0)) return undefined;
  if (parameters.length === 0) return (data, context) => [data, context];
  const length = Math.max(...parameters.map(({ index }) => index)) + 1;
  const found = Array.from({ length }, (_, place) => parameters.findLast(({ index }) => index === place));
  return (data, context) => found.map((parameter) => parameter?.extractValue(data, context));
}

/**
 * Calls a method as Nest does where nothing is around it, with two promises in place of nine. Errors go to the exception filters.
 */
export function plainInvoke(
  instance: object,
  method: Method,
  argumentsOf: ArgumentsOf,
  proxy: RpcProxy,
  filters: RpcExceptionsHandler,
): Handler['invoke'] {
  const failed = (error: unknown, data: unknown, context: DlxContext): unknown =>
    refusedOr(filters, data, context, error);
  /** Nest filters the errors of a stream, too. */
  const filtered = (returned: unknown, data: unknown, context: DlxContext): unknown => {
    const result = iterated(returned);
    return isObservable(result)
      ? result.pipe(catchError((error) => proxy.handleError(filters, [data, context], error)))
      : result;
  };
  return (data, context) =>
    // The broker is done with its command before a method runs.
    begun.then(() => {
      try {
        const result = method.apply(instance, argumentsOf(data, context));
        if (!isThenable(result)) return filtered(result, data, context);
        return Promise.resolve(result).then(
          (value) => filtered(value, data, context),
          (error: unknown) => failed(error, data, context),
        );
      } catch (error) {
        return failed(error, data, context);
      }
    });
}

const begun = Promise.resolve();

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
