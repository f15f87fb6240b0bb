import { AsyncResource } from 'node:async_hooks';
import { isObservable, type Observable } from 'rxjs';
import type { Done } from '../backend/index.js';
import { Refusal } from './capture.js';
import type { DlxContext } from './context.js';
import type { PlannedHandler } from './handler.js';
import type { Replies } from './replies.js';

/** How a handler ended: `failure` is what came out of Nest's filters, for the caller of a request. */
export type Outcome = { readonly failed: false } | { readonly failed: true; readonly failure: unknown };

type End = (outcome: Outcome) => void;

const succeeded: Outcome = { failed: false };
const doNothing = (): void => undefined;

/**
 * Runs a handler to the end of what it returns: a value, a promise or a stream, of which an empty one is a success. A
 * request is answered on the way, and over when its last reply was published. Nothing is thrown.
 * @returns what stops it early: its stream is torn down, and its outcome does not come any more
 */
export function runHandler(
  planned: PlannedHandler,
  data: unknown,
  context: DlxContext,
  replies: Replies | undefined,
  end: End,
): () => void {
  let stop: (() => void) | undefined;
  const published: Done = (failure) => {
    if (failure === undefined) return end(succeeded);
    context.capture(failure);
    end({ failed: true, failure });
  };
  // A failed request is answered by whoever settles it: it may be tried again first.
  const fail = (failure: unknown): void => end({ failed: true, failure });
  const settle = (result: unknown): void => {
    if (stop === doNothing) return;
    if (result instanceof Refusal) fail(result.failure);
    else if (isObservable(result)) stop = runStream(result, replies, published, end);
    else if (replies === undefined) end(succeeded);
    else replies.only(result, published);
  };
  try {
    planned.handler.invoke(data, context).then(settle, fail);
  } catch (error) {
    fail(error);
  }
  return () => {
    const running = stop;
    stop = doNothing;
    running?.();
  };
}

/** Runs a stream to its end, or until no client waits for its values any more. */
function runStream(stream: Observable<unknown>, replies: Replies | undefined, published: Done, end: End): () => void {
  let isOver = false;
  let subscription: { unsubscribe?(): void } | undefined;
  let unwatch: (() => void) | undefined;
  const finish = (then: () => void): void => {
    if (isOver) return;
    isOver = true;
    unwatch?.();
    try {
      subscription?.unsubscribe?.();
    } catch (error) {
      return fail(error); // what is torn down is the handler's
    }
    then();
  };
  const fail = (failure: unknown): void => end({ failed: true, failure });
  const watch = (answers: Replies): void => {
    // The asker goes in its own async context, and what is torn down belongs to this message.
    const own = new AsyncResource('DlxAnswer');
    unwatch = answers.watch(
      () => own.runInAsyncScope(finish, undefined, () => end(succeeded)),
      (failure) => finish(() => published(failure)),
    );
    if (isOver) unwatch(); // the asker was gone already
  };
  try {
    subscription = stream.subscribe({
      next: (value) => {
        if (value instanceof Refusal) finish(() => fail(value.failure));
        else if (!isOver) replies?.next(value);
      },
      error: (failure: unknown) => finish(() => fail(failure)),
      complete: () => finish(() => (replies === undefined ? end(succeeded) : replies.complete(published))),
    });
  } catch (error) {
    finish(() => fail(error)); // not an observable of rxjs: its errors are caught
  }
  if (isOver) subscription?.unsubscribe?.();
  // Most answers end within their turn: to watch for their asker would cost half of the requests a second.
  else if (replies !== undefined) setImmediate(() => !isOver && watch(replies));
  return () => finish(doNothing);
}
