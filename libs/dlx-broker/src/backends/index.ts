export * from './backend.js';

export { EmbeddedBackend } from './embedded/backend.js';
export * from './errors.js';
export { parseAddresses } from './rabbitmq/address.js';
export { checkManagementUrl } from './rabbitmq/management-url.js';
export { type PublishBuffer, type RabbitMqOptions, type RabbitMqPolicy } from './rabbitmq/options.js';
export type { RabbitMqLog } from './rabbitmq/open.js';
export { nearestQueue, need } from './need.js';

/** Reads the backend on a server and its AMQP client: an application with an embedded broker starts without them. */
export const loadRabbitMq = () => import('./rabbitmq/index.js');

export { isReplyAddress, maxDelay } from '../engine/broker/index.js';

export { type Address } from '../engine/message/index.js';
