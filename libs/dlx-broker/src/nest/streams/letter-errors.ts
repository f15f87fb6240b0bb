/** A letter was settled twice, or after the end of its stream. */
export class LetterSettledError extends Error {
  override readonly name = 'LetterSettledError';
}

/** A stream left more letters unsettled than `leaveAtMost`. */
export class TooManyLeftError extends Error {
  override readonly name = 'TooManyLeftError';

  constructor(queue: string, most: number) {
    super(
      `more than ${most} letters of queue '${queue}' were left unsettled by this stream; ` +
        `settle what does not concern it (otherwise: 'ack', 'reject', a function), or raise leaveAtMost`,
    );
  }
}

/** A promise that a function of the application returned to an operator did not settle in time. */
export class CallbackTimeoutError extends Error {
  override readonly name = 'CallbackTimeoutError';

  constructor(
    origin: string,
    queue: string,
    /** The time limit, in milliseconds. */
    readonly within: number,
  ) {
    super(
      `${origin}: the function did not answer within ${within} ms for a letter of queue '${queue}'; ` +
        'give what it waits for a limit of its own, or set within',
    );
  }
}

/** The broker ended the stream's consumer: its queue was deleted, the connection is gone, or a letter was unsettled for too long. */
export class ConsumerCancelledError extends Error {
  override readonly name = 'ConsumerCancelledError';

  constructor(queue: string, cause?: Error) {
    const why = cause === undefined ? '' : `: ${cause.message}`;
    super(`the broker cancelled the consumer of queue '${queue}'${why}`, { cause });
  }
}

/** The queue of a redrive, or its target, does not exist. */
export class UnknownQueueError extends Error {
  override readonly name = 'UnknownQueueError';

  /** @param hint ends the text, such as `; did you mean 'orders'?` */
  constructor(queue: string, way: 'from' | 'to' = 'from', hint = '') {
    super(`there is no queue '${queue}' to redrive ${way}${hint}`);
  }

  /** Its fields with the message, which JSON would leave out. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}
