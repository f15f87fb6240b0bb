import type { Driver } from './driver.js';
import { engineDriver } from './engine-driver.js';
import { engineOverAmqpDriver } from './engine-over-amqp-driver.js';
import { rabbitMqDriver } from './rabbitmq-driver.js';

/** Every broker the contract is tried on. */
export const drivers: readonly Driver[] = [
  engineDriver,
  engineOverAmqpDriver,
  rabbitMqDriver({
    name: 'rabbitmq',
    amqpUrl: process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672',
    managementUrl: process.env['RABBITMQ_MANAGEMENT_URL'] ?? 'http://127.0.0.1:15672',
  }),
];
