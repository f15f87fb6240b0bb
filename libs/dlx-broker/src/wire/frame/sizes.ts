/** The smallest frame-max of AMQP 0-9-1, in bytes. */
export const smallestFrameSize = 4096;

/** Before frame-max is negotiated; clients may have much to say of themselves. In bytes. */
export const firstFrameSize = 8192;

/** Bytes around a frame's payload: type, channel, size and the end octet. */
export const frameOverhead = 8;
