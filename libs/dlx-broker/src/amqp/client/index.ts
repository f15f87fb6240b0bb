export type {
  AmqpChannel,
  AmqpConnection,
  Answer,
  ConfirmPublisher,
  Delivery,
  Done,
  QueueDeclared,
  Sendable,
  ServerDescription,
} from './api.js';
export { openConnection } from './connection.js';
export { dial, type TlsOptions } from './dial.js';
export {
  ChannelClosedError,
  ClientError,
  type ConnectFailure,
  ConnectionClosedError,
  ConnectionFailedError,
  NackedError,
  ReturnedError,
  UnsendableError,
} from './errors.js';
export { openPublisher } from './publisher.js';
export type { Runtime } from './transport.js';
