import { RabbitMqBackend } from '../../libs/dlx-broker/src/backends/rabbitmq/backend.js';
import { openConnection } from '../../libs/dlx-broker/src/amqp/client/connection.js';
import { openPublisher } from '../../libs/dlx-broker/src/amqp/client/publisher.js';
import type { RabbitMqOptions } from '../../libs/dlx-broker/src/backends/rabbitmq/options.js';
import { resolveRabbitMq } from '../../libs/dlx-broker/src/backends/rabbitmq/open.js';
import type { LinkedServer } from './amqp-link.js';

/** A backend of `rabbitmq()` that is connected to a server by a link without a port. Its internal errors are thrown. */
export async function linkedBackend(
  server: LinkedServer,
  options: Partial<RabbitMqOptions> = {},
): Promise<RabbitMqBackend> {
  const backend = new RabbitMqBackend(resolveRabbitMq({ urls: 'amqp://server', ...options }), {
    ...server.runtime,
    random: () => 0.5,
    dial: () => server.link(),
    openConnection,
    openPublisher,
    keepAlive: () => () => undefined,
    warn: () => undefined,
    fault: (fault) => {
      throw fault;
    },
  });
  await backend.connect();
  return backend;
}
