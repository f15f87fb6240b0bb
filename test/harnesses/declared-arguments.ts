import type { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';

/** The arguments of a queue of the virtual host `/`, without the type of a classic queue, which all of them have since RabbitMQ 4. */
export function declaredArguments(broker: Broker, queue: string): Record<string, unknown> {
  const args = broker.virtualHost('/').queues.get(queue)?.declared.arguments ?? new Map();
  const all = Object.fromEntries([...args].map(([name, { value }]) => [name, value]));
  if (all['x-queue-type'] === 'classic') delete all['x-queue-type'];
  return all;
}
