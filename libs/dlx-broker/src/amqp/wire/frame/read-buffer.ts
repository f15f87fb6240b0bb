import { Buffer } from 'node:buffer';

/** The most bytes of one read. */
const size = 65_536;

/**
 * Plain sockets of this process read into this one buffer: a new buffer for each read costs as much as the small frames in it. The
 * bytes of a read are valid until the call that passes them returns, because the next read overwrites them.
 */
export const readBuffer = Buffer.allocUnsafeSlow(size);

/** Whether these bytes are a read in the common buffer, so that they have to be copied to be kept. */
export const isCommonRead = (bytes: Buffer): boolean => bytes.buffer === readBuffer.buffer;
