import { type Broker, type Channel, createBroker, type Delivery, longstr, int32 } from 'dlx-broker/engine';
import type { Field } from 'dlx-broker/engine';

export const body = (size: number): Uint8Array => Buffer.alloc(size, 'x');

export const args = (values: Readonly<Record<string, string | number>>): ReadonlyMap<string, Field> =>
  new Map(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? longstr(value) : int32(value)]),
  );

/** A broker with a channel to publish and declare on. */
export function embedded(): { broker: Broker; channel: Channel } {
  const broker = createBroker();
  return { broker, channel: open(broker, () => {}) };
}

/** A channel whose deliveries go to a function that settles them. */
export function open(broker: Broker, deliver: (delivery: Delivery, channel: Channel) => void): Channel {
  const channel: Channel = broker.connect().openChannel({
    deliver: (delivery) => deliver(delivery, channel),
    returned() {},
    confirmed() {},
    cancelled() {},
    closed(error) {
      throw error;
    },
  });
  return channel;
}

export const ack = ({ deliveryTag }: Delivery, channel: Channel): void => channel.ack(deliveryTag);
