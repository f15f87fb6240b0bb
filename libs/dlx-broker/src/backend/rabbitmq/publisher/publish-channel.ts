import type { ConfirmPublisher } from '../client/api.js';
import type { Outgoing } from './outgoing.js';

/** A channel for publishing, and its state. */
export class PublishChannel {
  /** The unconfirmed publishes of a channel that has ended, in the order of publishing. */
  readonly doubtful: Outgoing[] = [];
  /** True if there are no new publishes on it. It is closed when all of its publishes are confirmed. */
  isRetired = false;
  /** The time of the first nack since the last accepted message; undefined if there was none. */
  refusingSince: number | undefined;
  /** The number of acks, nacks and returns so far. */
  confirms = 0;
  /** The value of `confirms` at the last check, and the time of its last change. */
  seen = 0;
  movedAt: number;

  constructor(
    readonly publisher: ConfirmPublisher,
    now: number,
  ) {
    this.movedAt = now;
  }
}
