declare const opaque: unique symbol;

/**
 * What a store notes in an object of the core: in a message, in its place in a queue, in a queue. Only the store that
 * wrote it reads it. Undefined there means that no store has the object.
 */
export interface StoreSlot {
  readonly [opaque]: never;
}

/** A message, as its stored body knows it. */
export interface BodyOwner {
  readonly slot: StoreSlot | undefined;
}

/** A body on disk. Messages may share one: the store finds the bytes by the message. */
export abstract class StoredBody {
  /** Bytes, under the same name as of an array. */
  abstract readonly length: number;

  /**
   * The body of this message, read from disk.
   * @throws Unreadable which says whether the body is lost, or cannot be read now
   */
  abstract read(message: BodyOwner): Uint8Array;
}

/** A body in memory, or on disk. */
export type Body = Uint8Array | StoredBody;

/**
 * Why a body cannot be read. Only an error with `isLost` proves that the bytes are gone or changed. After any other error
 * (no free file or memory, an error of the disk) the next try may succeed.
 */
export interface Unreadable extends Error {
  readonly isLost?: boolean;
}

/** Whether the error proves that the body is gone for good. */
export const isLost = (error: unknown): boolean => error instanceof Error && (error as Unreadable).isLost === true;
