import type { Subscriber } from 'rxjs';

/** A publish failed, because the application or its client was closed before. */
export class ClientClosedError extends Error {
  override readonly name = 'ClientClosedError';

  constructor() {
    super('the client is closed, as its application is: nothing is published any more');
  }
}

/** Refusals of a client that keep the process alive until the application has the error. */
const mostAwaited = 100;

/**
 * Refuses a request in a later turn: `retry` without a limit would otherwise send it again for ever within one turn, and the application
 * could not end.
 * @param before earlier refusals of this client; after {@link mostAwaited} the process may end before the application has the error
 * @returns withdraws the refusal
 */
export function refuseLater(request: Subscriber<unknown>, before: number): () => void {
  const turn = setImmediate(() => request.error(new ClientClosedError()));
  if (before >= mostAwaited) turn.unref();
  return () => clearImmediate(turn);
}
