import { isObservable } from 'rxjs';
import type { Done } from '../backend/index.js';
import type { DlxContext } from './context.js';
import type { PlannedHandler } from './handler.js';
import type { Replies } from './replies.js';

/** How a handler ended: `failure` is what came out of Nest's filters, for the caller of a request. */
export type Outcome = { readonly failed: false } | { readonly failed: true; readonly failure: unknown };

const succeeded: Outcome = { failed: false };

/**
 * Runs a handler to the end of what it returns: a value, a promise or a stream, of which an empty one is a success. A
 * request is answered on the way, and over when its last reply was published. Nothing is thrown.
 */
export function runHandler(
  planned: PlannedHandler,
  data: unknown,
  context: DlxContext,
  replies: Replies | undefined,
  end: (outcome: Outcome) => void,
): void {
  const published: Done = (failure) => {
    if (failure === undefined) return end(succeeded);
    context.capture(failure);
    end({ failed: true, failure });
  };
  // A failed request is answered by whoever settles it: it may be tried again first.
  const fail = (failure: unknown): void => end({ failed: true, failure });
  const settle = (result: unknown): void => {
    if (!isObservable(result)) {
      if (replies === undefined) end(succeeded);
      else replies.only(result, published);
      return;
    }
    try {
      result.subscribe({
        next: (value) => replies?.next(value),
        error: fail,
        complete: () => (replies === undefined ? end(succeeded) : replies.complete(published)),
      });
    } catch (error) {
      fail(error); // not an observable of rxjs: its errors are caught
    }
  };
  try {
    planned.handler.invoke(data, context).then(settle, fail);
  } catch (error) {
    fail(error);
  }
}
