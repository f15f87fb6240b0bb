import { rabbitMqServers } from '../rabbitmq.js';
import type { Driver } from './driver.js';
import { engineDriver } from './engine-driver.js';
import { engineOverAmqpDriver } from './engine-over-amqp-driver.js';
import { rabbitMqDriver } from './rabbitmq-driver.js';

/** Every broker the contract is tried on, in each version; those in real time last. */
export const drivers: readonly Driver[] = [
  ...(['3.10', '4'] as const).flatMap((profile) => [engineDriver(profile), engineOverAmqpDriver(profile)]),
  ...rabbitMqServers.map(rabbitMqDriver),
];
