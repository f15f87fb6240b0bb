import type {
  AmqpError,
  Broker,
  Channel,
  ConnectOptions,
  Delivery,
  Returned,
} from '../../libs/dlx-broker/src/engine/broker/index.js';
import { noProperties, type Properties } from '../../libs/dlx-broker/src/engine/message/index.js';

/** A channel of the engine whose output is kept, in order. */
export interface Listener {
  readonly channel: Channel;
  readonly deliveries: Delivery[];
  readonly returns: Returned[];
  /** `ack 1`, `ack 3 multiple`, `nack 4` */
  readonly confirms: string[];
  readonly cancelled: string[];
  readonly errors: AmqpError[];
  /** Bodies of the deliveries, as text. */
  bodies(): string[];
}

/** Opens a connection with one channel, and keeps the output of the channel. */
export function listen(broker: Broker, options: ConnectOptions = {}): Listener {
  const deliveries: Delivery[] = [];
  const returns: Returned[] = [];
  const confirms: string[] = [];
  const cancelled: string[] = [];
  const errors: AmqpError[] = [];
  const outbox = { closed: (error: AmqpError) => void errors.push(error) };
  const channel = broker.connect({ outbox, ...options }).openChannel({
    deliver: (delivery) => void deliveries.push(delivery),
    returned: (returned) => void returns.push(returned),
    confirmed: (tag, multiple, ok) => void confirms.push(`${ok ? 'ack' : 'nack'} ${tag}${multiple ? ' multiple' : ''}`),
    cancelled: (tag) => void cancelled.push(tag),
    closed: outbox.closed,
  });
  const bodies = (): string[] => deliveries.map(({ message }) => Buffer.from(message.body).toString());
  return { channel, deliveries, returns, confirms, cancelled, errors, bodies };
}

/** Publishes a text. */
export function publishText(
  channel: Channel,
  exchange: string,
  routingKey: string,
  body: string,
  properties: Properties = noProperties,
): void {
  channel.publish(exchange, routingKey, properties, Buffer.from(body));
}
