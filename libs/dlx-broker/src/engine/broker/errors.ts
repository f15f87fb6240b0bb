/** Every reply code of AMQP 0-9-1 that RabbitMQ uses, with its number and what it closes. */
export const replyCodes = {
  CONNECTION_FORCED: { code: 320, closes: 'connection' },
  ACCESS_REFUSED: { code: 403, closes: 'channel' },
  NOT_FOUND: { code: 404, closes: 'channel' },
  RESOURCE_LOCKED: { code: 405, closes: 'channel' },
  PRECONDITION_FAILED: { code: 406, closes: 'channel' },
  FRAME_ERROR: { code: 501, closes: 'connection' },
  SYNTAX_ERROR: { code: 502, closes: 'connection' },
  COMMAND_INVALID: { code: 503, closes: 'connection' },
  CHANNEL_ERROR: { code: 504, closes: 'connection' },
  UNEXPECTED_FRAME: { code: 505, closes: 'connection' },
  RESOURCE_ERROR: { code: 506, closes: 'connection' },
  NOT_ALLOWED: { code: 530, closes: 'connection' },
  NOT_IMPLEMENTED: { code: 540, closes: 'connection' },
  INTERNAL_ERROR: { code: 541, closes: 'connection' },
} as const;

export type ReplyName = keyof typeof replyCodes;

/** The class and method id of a method, as the close methods carry it. */
export type MethodId = readonly [classId: number, methodId: number];

/** @param id class and method in one number */
export const methodOf = (id: number): MethodId => [id >>> 16, id & 0xffff];

/** The one error of the core: a reply code, RabbitMQ's text and the method that failed. */
export class AmqpError extends Error {
  override readonly name = 'AmqpError';
  /** `NOT_FOUND`, `PRECONDITION_FAILED` ... */
  readonly reply: ReplyName;
  /** 404, 406 ... */
  readonly code: number;
  /** What the error closes: a soft error the channel, a hard one the connection. */
  readonly closes: 'channel' | 'connection';
  /** Class and method id of the command that failed; [0, 0] when no method failed. */
  method: MethodId = [0, 0];

  /** @param detail the text without the name of the code, which is put in front as on the wire */
  constructor(reply: ReplyName, detail: string, closes: 'channel' | 'connection' = replyCodes[reply].closes) {
    super(`${reply} - ${detail}`);
    this.reply = reply;
    this.code = replyCodes[reply].code;
    this.closes = closes;
  }

  /** Names the method that failed. @param id class and method in one number @returns this error */
  blame(id: number): this {
    this.method = methodOf(id);
    return this;
  }

  /** Its fields with the message, which JSON would leave out. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}

export const noQueue = (name: string, vhost: string): AmqpError =>
  new AmqpError('NOT_FOUND', `no queue '${name}' in vhost '${vhost}'`);

export const noExchange = (name: string, vhost: string): AmqpError =>
  new AmqpError('NOT_FOUND', `no exchange '${name}' in vhost '${vhost}'`);

export const preconditionFailed = (detail: string): AmqpError => new AmqpError('PRECONDITION_FAILED', detail);

export const accessRefused = (detail: string): AmqpError => new AmqpError('ACCESS_REFUSED', detail);

export const notImplemented = (detail: string): AmqpError => new AmqpError('NOT_IMPLEMENTED', detail);

/** A commit of which queues refused a part (rule K9). */
export const partialCompletion = (): AmqpError => preconditionFailed('partial tx completion');

/**
 * A declaration cannot be stored, because the journal has failed. The client gets the reason, unlike that of an
 * internal fault.
 */
export const notStored = (id: number, { message }: Error): AmqpError =>
  new AmqpError('INTERNAL_ERROR', message).blame(id);

/** An empty queue name on a channel that has declared none (rule O2). */
export const noPreviousQueue = (): AmqpError => new AmqpError('NOT_FOUND', 'no previously declared queue');

/** A queue is exclusive to another connection, or was declared with another value of `exclusive` (rule O4). */
export const locked = (queue: string, vhost: string): AmqpError =>
  new AmqpError(
    'RESOURCE_LOCKED',
    `cannot obtain exclusive access to locked queue '${queue}' in vhost '${vhost}'. It could be originally declared on ` +
      'another connection or the exclusive property value does not match that of the original declaration.',
  );
