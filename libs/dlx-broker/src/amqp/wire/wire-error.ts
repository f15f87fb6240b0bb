const codes = { FRAME_ERROR: 501, UNEXPECTED_FRAME: 505, INTERNAL_ERROR: 541 } as const;

/** Bytes that break the protocol, with RabbitMQ's reply code and text. Every such error ends its connection. */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly code: number;
  readonly closes = 'connection';

  /** @param detail the reply text without the name of its code */
  constructor(
    readonly reply: keyof typeof codes,
    readonly detail: string,
  ) {
    super(`${reply} - ${detail}`);
    this.code = codes[reply];
  }
}
