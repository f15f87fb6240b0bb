/** A message was delivered although its attempts are used up. */
export class AttemptsExhaustedError extends Error {
  override readonly name = 'AttemptsExhaustedError';

  constructor(origin: string, attempts: number) {
    super(`${origin} is not asked any more: the message failed ${attempts} times`);
  }
}
