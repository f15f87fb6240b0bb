export * from './backend.js';

export { EmbeddedBackend, type EmbeddedOptions } from './embedded/backend.js';
export * from './errors.js';
export { parseAddresses } from './rabbitmq/address.js';
export type { RabbitMqBackend } from './rabbitmq/backend.js';
export { openRabbitMq, type RabbitMqLog } from './rabbitmq/open.js';
export { placeOfApi } from './rabbitmq/http.js';
export type { PublishBuffer, RabbitMqCredentials, RabbitMqOptions, Supplied } from './rabbitmq/options.js';
export { type Capability, need } from './need.js';
export { type BackendState, type ServerInfo } from './state.js';

export type { AmqpChannel, AmqpConnection } from './rabbitmq/client/api.js';
export { openConnection } from './rabbitmq/client/connection.js';
export { dial } from './rabbitmq/client/dial.js';
export {
  ChannelClosedError,
  ConnectError,
  NackedError,
  ReturnedError,
  UnsendableError,
} from './rabbitmq/client/errors.js';
export { openPublisher } from './rabbitmq/client/publisher.js';

export { isReplyAddress, longestDelay } from '../broker/index.js';

export { type Address, type RecordedOrigin } from '../message/index.js';
