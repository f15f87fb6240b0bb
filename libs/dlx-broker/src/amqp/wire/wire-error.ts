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

/** A payload as error texts show it: its first bytes in decimal. */
function snippet(payload: Buffer): string {
  const which = payload.length <= 16 ? 'all' : 'first 16';
  return `${which} octets = ${erlangTerm(payload.subarray(0, 16))}`;
}

/** Bytes in decimal, as RabbitMQ prints what it cannot decode. */
export const erlangBinary = (bytes: Uint8Array): string => `<<${Array.from(bytes).join()}>>`;

/** Bytes as RabbitMQ prints them: as text if all are printable, else in decimal. */
function erlangTerm(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  return /^[\x20-\x7e\xa0-\xff]+$/.test(text) ? `<<${JSON.stringify(text)}>>` : erlangBinary(bytes);
}

/** The error of bytes that are no frame. */
export const frameError = (type: number, payload: Buffer, reason: string): WireError =>
  new WireError('FRAME_ERROR', `type ${type}, ${snippet(payload)}: ${reason}`);

/** The error of a frame whose type is not expected here. */
export const unexpectedFrame = (type: number, payload: Buffer): WireError =>
  new WireError('UNEXPECTED_FRAME', `type ${type}, ${snippet(payload)}`);
