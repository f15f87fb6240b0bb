import type { Driver } from './driver.js';
import { engineDriver } from './engine-driver.js';
import { engineOverAmqpDriver } from './engine-over-amqp-driver.js';
import { amqpUrl, managementUrl } from '../rabbitmq.js';
import { rabbitMqDriver } from './rabbitmq-driver.js';

/** Every broker the contract is tried on. */
export const drivers: readonly Driver[] = [
  engineDriver,
  engineOverAmqpDriver,
  rabbitMqDriver({
    name: 'rabbitmq',
    amqpUrl,
    managementUrl,
  }),
];
