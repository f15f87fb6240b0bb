import type { Subscriber } from 'rxjs';

/** A publish failed, because the application or its client was closed before. */
export class ClientClosedError extends Error {
  override readonly name = 'ClientClosedError';

  constructor() {
    super('the client is closed, as its application is: nothing is published any more');
  }
}

/**
 * Refuses a request in a later turn: `retry` without a limit would otherwise send it again for ever within one turn, and the application
 * could not end.
 * @returns withdraws the refusal
 */
export function refuseLater(request: Subscriber<unknown>): () => void {
  const turn = setImmediate(() => request.error(new ClientClosedError())).unref();
  return () => clearImmediate(turn);
}
