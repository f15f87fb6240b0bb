/** No handler of a queue is for the pattern of a message. */
export class UnknownPatternError extends Error {
  override readonly name = 'UnknownPatternError';
}
