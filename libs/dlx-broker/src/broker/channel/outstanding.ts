import { type Message, noBody } from '../../message/index.js';
import type { Delivery } from '../ports.js';
import type { Entry } from '../queue/entry.js';
import type { Queue } from '../queue/queue.js';
import type { Consumer } from './consumer.js';
import type { ChannelContext, ConnectionContext } from './context.js';

/** A delivery: what goes out to the client, and what the channel remembers until it is settled. */
export class Outstanding implements Delivery {
  settled = false;

  constructor(
    readonly channel: ChannelContext,
    readonly deliveryTag: number,
    readonly from: Queue,
    readonly entry: Entry,
    /** Undefined when it was fetched by `basic.get`. */
    readonly consumer: Consumer | undefined,
    readonly redelivered: boolean,
    /** As handed out: the queue's own message, or one with `x-delivery-count` (rule D3). */
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

  /** As an output of the scheduler. */
  send(): void {
    if (!this.channel.isClosed) this.channel.outbox.deliver(this);
    this.body = noBody;
  }
}
