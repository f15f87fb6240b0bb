import { type Message, noBody } from '../../message/index.js';
import type { Delivery } from '../ports.js';
import type { Entry } from '../queue/entry.js';
import type { Queue } from '../queue/queue.js';
import type { Consumer } from './consumer.js';
import type { ChannelContext, ConnectionContext } from './context.js';

/** A delivery, as it is sent to the client and as the channel remembers it until it is settled. */
export class Outstanding implements Delivery {
  settled = false;

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
    this.body = noBody;
  }
}
