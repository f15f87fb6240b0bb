import { type Broker, profiles } from '../../broker/index.js';

/** What this is, where RabbitMQ's API tells of the product; `rabbitmq_version` is what it behaves like. */
export const product = { name: 'dlx-broker', version: '0.1.0' } as const;

/** The release of RabbitMQ that a broker behaves like, as clients and tools see it. */
export const versionOf = (broker: Broker): string => (broker.profile === profiles['4'] ? '4.2.0' : '3.10.8');
