import type { ConfirmPublisher } from '../client/api.js';
import type { Outgoing } from './outgoing.js';

/** A channel for publishing, and what this backend knows of it. */
export class Lane {
  /** In doubt since the channel ended, in the order of publishing. */
  readonly doubtful: Outgoing[] = [];
  /** No longer used for new publishes; it ends when all of its own are confirmed. */
  isRetired = false;
  /** Since when it refuses messages; undefined while it does not, or took one since. */
  refusingSince: number | undefined;
  /** Confirms of any kind so far. */
  confirms = 0;
  /** Confirms when it was last looked at, and when they last changed. */
  seen = 0;
  movedAt: number;

  constructor(
    readonly publisher: ConfirmPublisher,
    now: number,
  ) {
    this.movedAt = now;
  }
}
