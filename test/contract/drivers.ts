import { rabbitMqServers } from '../rabbitmq.js';
import type { Driver } from './driver.js';
import { engineDriver } from './engine-driver.js';
import { engineOverAmqpDriver } from './engine-over-amqp-driver.js';
import { rabbitMqDriver } from './rabbitmq-driver.js';

/** Every broker the contract is tried on, in each version. */
export const drivers: readonly Driver[] = rabbitMqServers.flatMap((server) => [
  engineDriver(server.profile),
  engineOverAmqpDriver(server.profile),
  rabbitMqDriver(server),
]);
