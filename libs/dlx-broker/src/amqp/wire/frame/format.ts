/** The types of frames. */
export const frameTypes = { method: 1, header: 2, body: 3, heartbeat: 8 } as const;
/** The octet at the end of each frame. */
export const frameEnd = 0xce;
/** The smallest frame-max of AMQP 0-9-1, in bytes. */
export const minFrameSize = 4096;

/** Bytes around a frame's payload: type, channel, size and the end octet. */
export const frameOverhead = 8;
