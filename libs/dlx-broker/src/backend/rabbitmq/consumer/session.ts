import type { AmqpChannel, ConfirmPublisher } from '../client/api.js';

/** A consumer on one channel. A consumer that begins again after a reconnect has a new session. */
export interface ConsumerSession {
  readonly channel: AmqpChannel;
  /** Publishes on this channel. Present where the server can ack a delivery in the same step (rule K14). */
  readonly replacing: ConfirmPublisher | undefined;
  /** The number of unsettled deliveries. */
  unsettled: number;
  /** True after a cancel: there are no further deliveries, and the channel is closed after the last settlement. */
  isCancelled: boolean;
  /** True after the end of the channel: the server has requeued all unsettled deliveries. */
  isOver: boolean;
}

/** Notes that a delivery was settled, and closes the channel of a cancelled consumer after the last one. */
export function oneSettled(session: ConsumerSession): void {
  session.unsettled--;
  if (session.isCancelled && session.unsettled === 0 && !session.isOver) session.channel.close();
}
