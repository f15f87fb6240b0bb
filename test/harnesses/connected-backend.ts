import { RabbitMqBackend, type RabbitMqHost } from '../../libs/dlx-broker/src/backends/rabbitmq/backend.js';
import type { AmqpChannel, AmqpConnection } from '../../libs/dlx-broker/src/amqp/client/api.js';
import type { Transport } from '../../libs/dlx-broker/src/amqp/client/transport.js';
import type { RabbitMqOptions } from '../../libs/dlx-broker/src/backends/rabbitmq/options.js';
import { resolveRabbitMq } from '../../libs/dlx-broker/src/backends/rabbitmq/open.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';

/** Waits for the promises that are settled now, and for those that follow. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
};

/**
 * A backend that is connected to a server without bytes: commands reach the channels that the test makes.
 * @param log gets faults and warnings of the backend
 */
export async function connectedBackend(
  openChannel: () => AmqpChannel,
  options: Omit<RabbitMqOptions, 'urls'>,
  log: Pick<RabbitMqHost, 'fault' | 'warn'>,
): Promise<{ readonly backend: RabbitMqBackend; readonly clock: ManualClock }> {
  const clock = new ManualClock();
  const host = {
    ...log,
    clock,
    random: () => 0.5,
    later: (act: () => void) => act(),
    keepAlive: () => () => undefined,
    dial: () => ({}) as Transport,
    openPublisher: () => ({}),
    openConnection: (...[, , , events]: Parameters<RabbitMqHost['openConnection']>) => {
      const description = { properties: new Map(), product: 'RabbitMQ', version: '3.10.8', can: () => true };
      queueMicrotask(() => events.opened(description));
      return { isOpen: true, isBlocked: false, openChannel } as unknown as AmqpConnection;
    },
  } as unknown as RabbitMqHost;
  const backend = new RabbitMqBackend(resolveRabbitMq({ urls: 'amqp://h', ...options }), host);
  await backend.connect();
  return { backend, clock };
}
