export * from './backend.js';

export { EmbeddedBackend, type EmbeddedOptions } from './embedded/backend.js';
export * from './errors.js';
export { parseAddresses } from './rabbitmq/address.js';
export { checkManagementUrl } from './rabbitmq/management-url.js';
export {
  misnamedIn,
  type PublishBuffer,
  type RabbitMqCredentials,
  type RabbitMqOptions,
  type RabbitMqPolicy,
  type RabbitMqUser,
  type Supplied,
} from './rabbitmq/options.js';
export type { RabbitMqLog } from './rabbitmq/open.js';
export { type Capability, nearestQueue, need } from './need.js';
export { type BackendState, type ServerInfo, serverOf, whyNot } from './backend.js';

/** Reads the backend on a server and its AMQP client: an application with an embedded broker starts without them. */
export const loadRabbitMq = () => import('./rabbitmq/index.js');

export { isReplyAddress, maxDelay } from '../engine/broker/index.js';

export { type Address, type RecordedOrigin } from '../engine/message/index.js';
