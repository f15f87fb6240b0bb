/** An event was emitted in an attempt that has ended: it timed out, it was settled by hand, or the call was not awaited. */
export class OutboxClosedError extends Error {
  override readonly name = 'OutboxClosedError';

  constructor(handler: string) {
    super(
      `the outbox of ${handler} is closed: the attempt that emitted this event has ended; await what emits, ` +
        'or emit with { outbox: false }, which publishes at once',
    );
  }
}

/** A handler emitted more than its outbox holds. */
export class OutboxFullError extends Error {
  override readonly name = 'OutboxFullError';

  constructor(handler: string, { messages, bytes }: { readonly messages: number; readonly bytes: number }) {
    super(
      `the outbox of ${handler} is full: it holds at most ${messages} messages of ${bytes} bytes in all; ` +
        'write @Outbox({ messages, bytes }), or emit with { outbox: false }, which publishes at once',
    );
  }
}
