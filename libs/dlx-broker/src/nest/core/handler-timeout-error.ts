/** A handler took longer than its policy or the consumer timeout of the server allows. It may still run: the `signal` of its context is aborted. */
export class HandlerTimeoutError extends Error {
  override readonly name = 'HandlerTimeoutError';

  /** @param whose what the time is, such as `, the consumer timeout of the server`; by default that of its policy */
  constructor(handler: string, milliseconds: number, whose = '') {
    super(`${handler} took longer than ${milliseconds} ms${whose}`);
  }
}
