import { noBytes } from '../../engine/message/index.js';
/** The protocol header of AMQP 0-9-1: the first bytes of a client, and the answer to a client that begins otherwise (rule T1). */
export const protocolHeader = Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]);

/** Reads the protocol header, which may come in pieces. */
export class HeaderReader {
  #received: Buffer = noBytes;

  /** @returns the bytes behind the header; `'incomplete'` if more bytes are needed, `'other'` if the bytes are no header */
  read(chunk: Buffer): Buffer | 'incomplete' | 'other' {
    const received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const length = Math.min(received.length, protocolHeader.length);
    if (!received.subarray(0, length).equals(protocolHeader.subarray(0, length))) return 'other';
    if (length === protocolHeader.length) return received.subarray(length);
    this.#received = Buffer.from(received);
    return 'incomplete';
  }
}
