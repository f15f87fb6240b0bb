import type { Properties, RecordedOrigin } from '../../message/index.js';

/** Messages that were taken and not yet acked, at most: so many can be in both queues after a crash. */
export const defaultWindow = 100;

/** A message on its way. */
export interface Moving {
  readonly routingKey: string;
  readonly properties: Properties;
  readonly body: Uint8Array;
  /** Where it was published at first, if the broker recorded that. */
  readonly origin?: RecordedOrigin | undefined;
  /** When a delayed message goes on, in milliseconds since 1970. A source has them in this order, after all others. */
  readonly due?: number;
}

/** A message that was taken out of its queue, and is in the queue until it is acked. */
export interface Taken extends Moving {
  /** It was delivered before: by an earlier move that was interrupted, perhaps. */
  readonly redelivered: boolean;
  /** Takes it out of its queue for good. @returns when that is safe, where it can be known @throws MoveFailure */
  ack(): void | Promise<void>;
  /** Puts it back. */
  giveBack(): void;
}

/** A queue that messages are taken from. */
export interface Source {
  /** @returns the next message; undefined when the queue is empty @throws MoveFailure */
  next(): Promise<Taken | undefined>;
  /** @returns when all acks are safe @throws MoveFailure when that is unknown */
  close(): Promise<void>;
}

/** A queue that messages are sent to. */
export interface Target {
  /** @returns when the message is in the queue @throws MoveFailure */
  publish(message: Moving): Promise<void>;
  /**
   * Sends a message that arrives in the queue after a delay, in whole milliseconds. Delays end in the order of the calls.
   * @returns when the message is safe @throws MoveFailure
   */
  publishLater(message: Moving, delay: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * - `refused`: the queue is full, or has no leader. Nothing was taken, and a later attempt may succeed.
 * - `impossible`: the message or the queue does not allow it, now or later.
 * - `lost`: the connection ended, so that it is unknown whether the message was taken.
 */
export type FailureKind = 'refused' | 'impossible' | 'lost';

/** Why a message did not arrive, or may not have arrived. */
export class MoveFailure extends Error {
  override readonly name = 'MoveFailure';

  constructor(
    readonly kind: FailureKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
