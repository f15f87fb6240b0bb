import { readBuffer } from '../../libs/dlx-broker/src/amqp/wire/index.js';

/**
 * Passes bytes as a socket passes a read: in the common buffer, which is overwritten afterwards, as the next read would do.
 * @param bytes no more than one read
 * @returns what `pass` returns
 */
export function passRead<T>(bytes: Buffer, pass: (read: Buffer) => T): T {
  const length = bytes.copy(readBuffer);
  try {
    return pass(readBuffer.subarray(0, length));
  } finally {
    readBuffer.fill(0xaa, 0, length);
  }
}

/** Passes bytes in as many reads as they need. */
export function passReads(bytes: Buffer, pass: (read: Buffer) => void): void {
  for (let at = 0; at < bytes.length; at += readBuffer.length)
    passRead(bytes.subarray(at, at + readBuffer.length), pass);
}
