import type { FieldTable } from '../../message/index.js';
import type { Entry } from '../queue/entry.js';
import type { Queue } from '../queue/queue.js';
import type { ConsumerView } from '../queue/consumers.js';
import type { ChannelContext } from './context.js';

/** A limit of unsettled deliveries, of one consumer or of a whole channel; 0 is no limit (rule Q4). */
export class Prefetch {
  unsettled = 0;

  constructor(public limit: number) {}

  get hasRoom(): boolean {
    return this.limit === 0 || this.unsettled < this.limit;
  }
}

/** The receiving half of a channel, as its consumers know it. */
export interface ConsumerHome {
  readonly channel: ChannelContext;
  /** False while the client's side cannot take more. */
  readonly isFlowing: boolean;
  /** The limit that all consumers of the channel share. */
  readonly prefetch: Prefetch;
  /** Sends the client a message of the queue. */
  handOut(queue: Queue, entry: Entry, consumer: Consumer): void;
  /** Returns a delivery that was not sent to its queue. @returns false when it is not outstanding */
  takeBack(deliveryTag: number): boolean;
  /** The queue is gone, and the consumer with it (rule Q6). */
  ended(consumer: Consumer): void;
}

/** A subscription of a channel to a queue. */
export class Consumer implements ConsumerView {
  readonly prefetch: Prefetch;
  /** It was full when its turn came, so the queue skips it until {@link revive}. */
  isParked = false;
  /** It was cancelled, or its channel is closed; its deliveries may still be unsettled. */
  isRemoved = false;
  /** Its deliveries that timed out and that the client has not settled. While there are any, it gets no other (rule Q8). */
  timedOut = 0;
  /** How long a delivery may stay unacknowledged since RabbitMQ 4.3, in milliseconds: set at its start (rule Q8). */
  readonly timeout: number;
  /** Its place among all consumers that its channel ever had. */
  order = 0;

  constructor(
    readonly receiver: ConsumerHome,
    readonly tag: string,
    readonly queue: Queue,
    readonly noAck: boolean,
    readonly exclusive: boolean,
    readonly priority: number,
    prefetch: number,
    /** The arguments of `basic.consume`; management shows them. */
    readonly args: FieldTable,
  ) {
    this.prefetch = new Prefetch(prefetch);
    const asked = args.get('x-consumer-timeout')?.value;
    this.timeout = Number(asked ?? queue.settings.consumerTimeout ?? receiver.channel.vhost.consumerTimeout);
  }

  get isTimedOut(): boolean {
    return this.timedOut > 0;
  }

  canTake(): boolean {
    const { isFlowing, prefetch } = this.receiver;
    // Rule Q4: consumers without acks get nothing from a full channel either.
    const room = isFlowing && !this.isTimedOut && prefetch.hasRoom && (this.noAck || this.prefetch.hasRoom);
    if (!room) this.isParked = true;
    return room;
  }

  take(entry: Entry): void {
    this.receiver.handOut(this.queue, entry, this);
  }

  /** Returns a delivery to its quorum queue because a cancel has overtaken it (rule Q15). @returns false when it is to be sent */
  takesBack(deliveryTag: number): boolean {
    return this.isRemoved && this.queue.declared.type === 'quorum' && this.receiver.takeBack(deliveryTag);
  }

  cancelledByServer(): void {
    this.receiver.ended(this);
  }

  /** Removes the consumer from its queue. It is a holder of its deliveries until these are settled (rule Q13). */
  remove(now: number): void {
    this.isRemoved = true;
    if (this.prefetch.unsettled > 0) this.queue.consumers.holders++;
    this.queue.removeConsumer(this, now);
  }

  /** A delivery timed out, and is back in the queue. */
  late(): void {
    if (this.timedOut++ === 0) this.queue.consumers.leave(this);
  }

  /** The client has settled a delivery that had timed out. */
  caughtUp(): void {
    if (--this.timedOut === 0) this.revive();
  }

  /** The consumer may have room again: the queue offers it messages. */
  revive(): void {
    if (!this.isParked) return;
    this.isParked = false;
    this.queue.revive(this);
  }
}
