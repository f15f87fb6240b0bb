/** A handler took longer than its policy allows. It may still run: the `signal` of its context is aborted. */
export class HandlerTimeoutError extends Error {
  override readonly name = 'HandlerTimeoutError';

  constructor(handler: string, milliseconds: number) {
    super(`${handler} took longer than ${milliseconds} ms`);
  }
}
