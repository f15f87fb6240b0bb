/** A handler took longer than its policy allows. It may still be at work: it is told by its context's `signal`. */
export class HandlerTimeoutError extends Error {
  override readonly name = 'HandlerTimeoutError';

  constructor(handler: string, milliseconds: number) {
    super(`${handler} took longer than ${milliseconds} ms`);
  }
}
