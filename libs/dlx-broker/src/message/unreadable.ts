/**
 * Why a body cannot be read back. Only an error that says `isLost` proves that the bytes are gone or changed; after any
 * other (the system ran out of files or memory, the disk answers with an error) the body may be there at the next try.
 */
export interface Unreadable extends Error {
  readonly isLost?: boolean;
}

/** Whether the error proves that the body is gone for good. */
export const isLost = (error: unknown): boolean => error instanceof Error && (error as Unreadable).isLost === true;
