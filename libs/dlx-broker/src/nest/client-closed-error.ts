/** A publish failed, because the application or its client was closed before. */
export class ClientClosedError extends Error {
  override readonly name = 'ClientClosedError';

  constructor() {
    super('the client is closed, as its application is: nothing is published any more');
  }
}
