import type { Backend } from '../../backends/index.js';
import { after } from '../../platform/index.js';
import { Batch, type InBatch } from './batch.js';

/** Milliseconds between two checks of a reply-to address, where the backend does not report that it is gone. */
const pollInterval = 5_000;

/**
 * Calls `gone` once, when no client waits for the answer to a request any more.
 * @returns a function that ends the watch
 */
export function watchRequester(
  backend: Backend,
  replyTo: string,
  correlationId: string | undefined,
  gone: () => void,
): () => void {
  if (backend.onRequesterGone !== undefined) return backend.onRequesterGone(replyTo, correlationId, gone);
  let isOver = false;
  let cancel: (() => void) | undefined;
  // A passive declare finds a direct reply-to address as it finds a queue (rule S2).
  const poll = (): void => {
    backend.status(replyTo).then(
      (status) => {
        if (isOver) return;
        if (status === undefined) gone();
        else wait();
      },
      () => !isOver && wait(), // after a failed check the client may still wait
    );
  };
  const wait = (): void => void (cancel = after(backend.clock, pollInterval, poll));
  wait();
  return () => {
    isOver = true;
    cancel?.();
  };
}

/** A request whose answer has many values and has not ended. */
export interface WatchedRequest extends InBatch {
  readonly replyTo: string;
  readonly correlationId: string | undefined;
  /** No client waits for the answer any more. */
  gone(): void;
  /** Calls a function in the async context of the message. */
  inOwnContext(begin: () => void): void;
  /** Gets the function that ends the watch. */
  watched(unwatch: () => void): void;
}

/**
 * Watches the clients that wait for answers of many values. Most answers end soon, and a watch costs about as much as the
 * request itself. So an answer is watched only when it is older than a turn of the event loop.
 */
export const requesterWatch = (backend: Backend): Batch<WatchedRequest> =>
  new Batch(setImmediate, (request) => {
    const { replyTo, correlationId } = request;
    request.inOwnContext(() => {
      request.watched(watchRequester(backend, replyTo, correlationId, () => request.gone()));
    });
  });
