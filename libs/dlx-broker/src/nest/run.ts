import { isObservable } from 'rxjs';
import type { Done } from '../backend/index.js';
import { Refusal } from './capture.js';
import type { DlxContext } from './context.js';
import { succeeded, type End, type PlannedHandler } from './handler.js';
import type { Replies } from './replies.js';
import { StreamRun } from './stream-run.js';

const doNothing = (): void => undefined;

/** A function for the outcome of the last reply. */
const publishedBy =
  (context: DlxContext, end: End): Done =>
  (failure) => {
    if (failure === undefined) return end(succeeded);
    context.capture(failure);
    end({ failed: true, failure });
  };

/**
 * Runs a handler to the end of its result: a value, a promise or a stream. An empty stream is a success. A request is answered
 * meanwhile, and ends when its last reply was published. It never throws.
 * @returns a function that stops it early: its stream is unsubscribed, and `end` is not called any more
 */
export function runHandler(
  planned: PlannedHandler,
  data: unknown,
  context: DlxContext,
  replies: Replies | undefined,
  end: End,
): () => void {
  let stop: (() => void) | undefined;
  // The settlement answers a failed request, because it may be retried first.
  const fail = (failure: unknown): void => end({ failed: true, failure });
  const settle = (result: unknown): void => {
    if (stop === doNothing) return;
    if (result instanceof Refusal) fail(result.failure);
    else if (isObservable(result)) {
      const run = new StreamRun(replies, publishedBy(context, end), end);
      stop = () => run.stop();
      run.start(result);
    } else if (replies === undefined) end(succeeded);
    else replies.only(result, publishedBy(context, end));
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
