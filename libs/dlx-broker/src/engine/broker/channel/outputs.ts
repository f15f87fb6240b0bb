import { type Message, emptyBody } from '../../message/index.js';
import { type AmqpError, preconditionFailed } from '../errors.js';
import type { Delivery } from '../ports.js';
import type { Entry } from '../queue/entry.js';
import type { Queue } from '../queue/queue.js';
import type { Output } from '../scheduler/scheduler.js';
import type { Consumer } from './consumer.js';
import type { ChannelContext, ConnectionContext } from './context.js';

/** `basic.return` that is about to be sent (rule K4), sent even if its channel has failed since (rule Q9). */
export class ReturnedMessage implements Output {
  constructor(
    readonly channel: ChannelContext,
    readonly message: Message,
    readonly replyCode = 312,
    readonly replyText = 'NO_ROUTE',
  ) {}

  get connection(): ConnectionContext {
    return this.channel.connection;
  }

  send(): void {
    this.channel.outbox.returned(this);
  }
}

/** An output that sends nothing. Later outputs of its connection wait until the work before it is done. */
export class Pause implements Output {
  constructor(readonly connection: ConnectionContext) {}

  send(): void {}
}

/** `basic.cancel` of the server that is about to be sent (rule Q6). */
export class Cancelled implements Output {
  constructor(
    readonly channel: ChannelContext,
    readonly consumerTag: string,
  ) {}

  get connection(): ConnectionContext {
    return this.channel.connection;
  }

  send(): void {
    if (!this.channel.isClosed && this.channel.outbox.cancelled(this.consumerTag) === false) this.unheard();
  }

  /** The client does not know `basic.cancel` of a server. */
  protected unheard(): void {}
}

/** `basic.cancel` because deliveries of a consumer timed out (rule Q8). A client that does not know it loses its channel. */
export class TimedOut extends Cancelled {
  protected override unheard(): void {
    const { channel } = this;
    channel.scheduler.batch(() => channel.closeWith(timedOut(channel.number, -1)));
  }
}

/** @param limit in milliseconds; RabbitMQ 4.3 writes -1 */
export const timedOut = (channel: number, limit: number): AmqpError =>
  preconditionFailed(
    `delivery acknowledgement on channel ${channel} timed out. Timeout value used: ${limit} ms. ` +
      'This timeout value can be configured, see consumers doc guide to learn more',
  );

/** `channel.close` of the server's own accord that is about to be sent (rule Q8). */
export class ServerClosed implements Output {
  constructor(
    readonly channel: ChannelContext,
    readonly error: AmqpError,
  ) {}

  get connection(): ConnectionContext {
    return this.channel.connection;
  }

  send(): void {
    this.channel.outbox.closed(this.error);
  }
}

/** A direct reply that is about to be sent: a delivery that needs no ack (rule S1). */
export class ReplyDelivery implements Output, Delivery {
  readonly redelivered = false;
  readonly deliveryCount = 0;
  readonly queue = '';

  constructor(
    readonly channel: ChannelContext,
    readonly consumerTag: string,
    readonly deliveryTag: number,
    readonly message: Message,
  ) {}

  get body(): Uint8Array {
    return this.message.body;
  }

  get connection(): ConnectionContext {
    return this.channel.connection;
  }

  send(): void {
    if (!this.channel.isClosed) this.channel.outbox.deliver(this);
  }
}

/** A delivery, as it is sent to the client and as the channel remembers it until it is settled. */
export class Outstanding implements Delivery {
  settled = false;
  /** When it times out, in milliseconds since 1970 (rule Q8). */
  due = Infinity;
  /** It timed out and has returned to its queue. It is outstanding until the client settles it, which changes nothing in the queue. */
  isReleased = false;

  constructor(
    readonly channel: ChannelContext,
    readonly deliveryTag: number,
    readonly from: Queue,
    readonly entry: Entry,
    /** Undefined for `basic.get`. */
    readonly consumer: Consumer | undefined,
    readonly redelivered: boolean,
    /** The message that the client gets: the queue's own, or a copy with `x-delivery-count` (rule D3). */
    readonly message: Message,
    /** The body until the delivery is sent: before that, the store may page the message's own body out. */
    public body: Uint8Array,
  ) {}

  get consumerTag(): string {
    return this.consumer?.tag ?? '';
  }

  get queue(): string {
    return this.from.name;
  }

  get deliveryCount(): number {
    return this.entry.failures;
  }

  get connection(): ConnectionContext {
    return this.channel.connection;
  }

  /** Called by the scheduler. */
  send(): void {
    const isSent = !this.channel.isClosed && this.consumer?.takesBack(this.deliveryTag) !== true;
    if (isSent) this.channel.outbox.deliver(this);
    this.body = emptyBody;
  }
}
