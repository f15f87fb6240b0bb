import { catchError, isObservable } from 'rxjs';
import { isThenable } from '../../platform/index.js';
import { refusedOr } from './capture.js';
import type { DlxContext } from '../core/context.js';
import { iterated } from './generated.js';
import type { Handler } from '../core/handler.js';
import type { FoundEnhancers, RpcExceptionsHandler, RpcProxy } from './nest-versions.js';

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
