/** A buffer of no bytes, shared. */
export const noBytes: Buffer = Buffer.alloc(0);
