/** The smallest frame-max of AMQP 0-9-1, in bytes. */
export const smallestFrameSize = 4096;

/** The largest frame before frame-max is negotiated, in bytes: client properties may be long. */
export const firstFrameSize = 8192;

/** Bytes around a frame's payload: type, channel, size and the end octet. */
export const frameOverhead = 8;
