import { type Broker, profiles } from '../broker/index.js';

/** The release of RabbitMQ that a broker behaves like, as clients and tools are told. */
export const versionOf = (broker: Broker): string => (broker.profile === profiles['4'] ? '4.2.0' : '3.10.8');
