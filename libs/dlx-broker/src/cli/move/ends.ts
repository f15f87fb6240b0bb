import type { Properties, RecordedOrigin } from '../../message/index.js';

/** The most unacked messages of a move. After a crash up to this number of messages can be in both queues. */
export const defaultWindow = 100;

/** A message that is being moved. */
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
  /** True if it was delivered before, for example by an interrupted move. */
  readonly redelivered: boolean;
  /** Acks the message. Resolves when the ack is durable, if that can be known. @throws MoveFailure */
  ack(): void | Promise<void>;
  /** Requeues the message. */
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
