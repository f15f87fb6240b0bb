import type { AmqpChannel, AmqpConnection, ConfirmPublisher } from '../../../amqp/client/index.js';

/** A delivery, with its neighbours among the unsettled deliveries of its session. */
export interface Unsettled {
  /** Ascends in its session. */
  readonly deliveryTag: number;
  previous: Unsettled | undefined;
  next: Unsettled | undefined;
}

/**
 * A consumer on one channel. A consumer that begins again after a reconnect has a new session. The acks of a turn are sent at its end:
 * one ack settles all deliveries up to the oldest that is unsettled (`multiple`).
 */
export class ConsumerSession {
  /** True after a cancel: there are no further deliveries, and the channel is closed after the last settlement. */
  isCancelled = false;
  /** True after {@link close}: what returns to the queue does so with the end of the channel. */
  isClosing = false;
  /** True when the end of the channel was asked for: nothing is settled on it any more. */
  isEnding = false;
  /** True after the end of the channel: the server has requeued all unsettled deliveries. */
  isOver = false;
  /** Commits that are under way: their messages are published, and their deliveries acked afterwards. */
  #commits = 0;
  /** Called when no commit delays the end of the channel any more. */
  #closed: (() => void) | undefined;
  #oldest: Unsettled | undefined;
  #newest: Unsettled | undefined;
  /** The tags of the deliveries that were acked in this turn. */
  #acked: number[] = [];

  constructor(
    private readonly connection: Pick<AmqpConnection, 'atEndOfTurn'>,
    private readonly channel: AmqpChannel,
    /** Publishes on this channel. Present where the server can ack a delivery in the same step (rule K14). */
    readonly replacing: ConfirmPublisher | undefined,
  ) {}

  get isIdle(): boolean {
    return this.#oldest === undefined;
  }

  /** Adds the newest delivery. */
  add(delivery: Unsettled): void {
    const newest = this.#newest;
    this.#newest = delivery;
    if (newest === undefined) this.#oldest = delivery;
    else {
      newest.next = delivery;
      delivery.previous = newest;
    }
  }

  /** @param delivery was added, and not settled yet; so in all of these methods */
  ack(delivery: Unsettled): void {
    if (this.#acked.push(delivery.deliveryTag) === 1) this.connection.atEndOfTurn(this.sendAcks);
    this.settled(delivery);
  }

  reject(delivery: Unsettled, requeue = false): void {
    this.sendAcks();
    this.channel.reject(delivery.deliveryTag, requeue);
    this.settled(delivery);
  }

  /** Returns a delivery that no handler had. */
  giveBack(delivery: Unsettled): void {
    this.refuse(delivery.deliveryTag);
    this.settled(delivery);
  }

  /** Gives back a delivery that was not added. */
  refuse(deliveryTag: number): void {
    this.sendAcks();
    this.channel.nack(deliveryTag, { requeue: true });
  }

  /** Removes a delivery that is settled, and closes the channel of a cancelled consumer after the last one. */
  settled(delivery: Unsettled): void {
    const { previous, next } = delivery;
    if (previous === undefined) this.#oldest = next;
    else previous.next = next;
    if (next === undefined) this.#newest = previous;
    else next.previous = previous;
    // A settled delivery must not keep later ones in memory.
    delivery.previous = delivery.next = undefined;
    this.#closeIfDone();
  }

  /** Cancels the consumer. Deliveries may arrive until the server answers. */
  cancel(consumerTag: string): void {
    this.sendAcks();
    this.channel.cancel(consumerTag, () => this.cancelled());
  }

  /** The consumer is cancelled. Unsettled deliveries can still be settled. */
  cancelled(): void {
    this.isCancelled = true;
    this.#closeIfDone();
  }

  /** A commit of a delivery begins. */
  begin(): void {
    this.#commits++;
  }

  /** A commit has ended. If it succeeded, its delivery is settled. */
  end(): void {
    this.#commits--;
    this.#closeIfDone();
  }

  /**
   * Ends the channel when no commit is under way: the messages of a commit would be out, and its delivery back in the queue. Other
   * deliveries return with the end of the channel, and not before: a consumer that is cancelled first lets others get later messages
   * (rule R3).
   * @param closed called then, or when the channel is lost before
   */
  close(closed?: () => void): void {
    this.isClosing = true;
    this.#closed = closed;
    this.#closeIfDone();
  }

  /** Ends the channel in spite of commits. @returns how many are under way */
  abandon(): number {
    this.#close();
    return this.#commits;
  }

  /** The channel has ended. */
  over(): void {
    this.isOver = true;
    this.#closed?.();
  }

  #closeIfDone(): void {
    const isDone = this.isClosing ? this.#commits === 0 : this.isCancelled && this.isIdle;
    if (isDone && !this.isEnding && !this.isOver) this.#close();
  }

  #close(): void {
    this.isEnding = true;
    this.sendAcks();
    this.channel.close();
    this.#closed?.();
  }

  /** Sends the acks of this turn now: whatever follows on the channel comes after them. */
  readonly sendAcks = (): void => {
    const acked = this.#acked;
    if (acked.length === 0) return;
    this.#acked = [];
    const unsettled = this.#oldest?.deliveryTag ?? Infinity;
    let [last, count] = [0, 0];
    for (const tag of acked) {
      if (tag > unsettled) this.channel.ack(tag);
      else {
        count++;
        if (tag > last) last = tag;
      }
    }
    if (count > 0) this.channel.ack(last, count > 1);
  };
}
