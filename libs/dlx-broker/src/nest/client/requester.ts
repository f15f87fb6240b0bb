import { after } from '../../platform/index.js';
import { type Backend } from '../../backends/index.js';

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
