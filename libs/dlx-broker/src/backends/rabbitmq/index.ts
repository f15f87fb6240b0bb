export {
  ChannelClosedError,
  ConnectionFailedError,
  dial,
  NackedError,
  openConnection,
  openPublisher,
  ReturnedError,
  UnsendableError,
} from '../../amqp/client/index.js';
export { openRabbitMq } from './open.js';
