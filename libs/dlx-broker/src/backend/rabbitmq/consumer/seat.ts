import type { AmqpChannel } from '../client/api.js';

/** The channel of a consumer, for as long as deliveries of it are in hand. */
export interface Seat {
  readonly channel: AmqpChannel;
  /** Deliveries that are not settled. */
  inHand: number;
  /** Nothing comes any more; when nothing is in hand the channel ends. */
  isCancelled: boolean;
  /** The channel is gone: the server has everything back that was in hand. */
  isOver: boolean;
}

/** A delivery of this channel was settled. */
export function settledOne(seat: Seat): void {
  seat.inHand--;
  if (seat.isCancelled && seat.inHand === 0 && !seat.isOver) seat.channel.close();
}
