/** What an AMQP error looks like to a client, whichever broker it came from. */
export class Failure extends Error {
  override readonly name = 'Failure';

  constructor(
    readonly code: number,
    readonly text: string,
    readonly classId: number,
    readonly methodId: number,
    readonly closes: 'channel' | 'connection',
  ) {
    super(`${code} ${text} at ${classId}.${methodId}, closes the ${closes}`);
  }

  /** From a channel.close or connection.close method. */
  static of(method: { readonly args: Readonly<Record<string, unknown>> }, closes: 'channel' | 'connection'): Failure {
    const { code, text, classId, methodId } = method.args as unknown as Omit<Failure, 'closes'>;
    return new Failure(code, text, classId, methodId, closes);
  }
}

/** What the administration of a broker refused. */
export class AdministrationFailure extends Error {
  override readonly name = 'AdministrationFailure';

  constructor(
    /** An HTTP status. */
    readonly status: number,
    readonly reason: string,
  ) {
    super(`${status} ${reason}`);
  }
}
