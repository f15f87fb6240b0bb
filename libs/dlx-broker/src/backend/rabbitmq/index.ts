export { openConnection } from './client/connection.js';
export { dial } from './client/dial.js';
export {
  ChannelClosedError,
  ConnectionFailedError,
  NackedError,
  ReturnedError,
  UnsendableError,
} from './client/errors.js';
export { openPublisher } from './client/publisher.js';
export { openRabbitMq } from './open.js';
