import { after } from '../host/index.js';
import { type Backend } from '../backend/index.js';

/** Milliseconds between two questions whether an asker lives, where a backend does not tell by itself. */
const lookEvery = 5_000;

/**
 * Tells once when no client waits for the answer to a request any more.
 * @returns what ends it
 */
export function watchAsker(
  backend: Backend,
  replyTo: string,
  correlationId: string | undefined,
  gone: () => void,
): () => void {
  if (backend.onAskerGone !== undefined) return backend.onAskerGone(replyTo, correlationId, gone);
  let isOver = false;
  let callOff: (() => void) | undefined;
  // A passive declare tells of a direct reply-to address as it does of a queue (rule S2).
  const look = (): void => {
    backend.status(replyTo).then(
      (status) => {
        if (isOver) return;
        if (status === undefined) gone();
        else wait();
      },
      () => !isOver && wait(), // an asker the backend cannot look up may still be there
    );
  };
  const wait = (): void => void (callOff = after(backend.clock, lookEvery, look));
  wait();
  return () => {
    isOver = true;
    callOff?.();
  };
}
