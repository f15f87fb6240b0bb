import { defaultConsumerTimeout } from '../../engine/broker/index.js';
import type { ConsumerTimeout } from '../backend.js';
import type { KnownServer } from './known-server.js';

/**
 * How long a server lets a delivery be unacknowledged. A RabbitMQ does not say it to clients.
 * @param given the option of the application, in milliseconds; undefined for what the server says, or 30 minutes
 */
export function consumerTimeoutOf({ info, timeout }: KnownServer, given: number | undefined): ConsumerTimeout {
  const { limit = defaultConsumerTimeout, byQueue = info.product === 'RabbitMQ' && isLater(info.version) } =
    timeout ?? {};
  return { limit: given ?? limit, byQueue };
}

/** True for RabbitMQ 3.12 and later, whose queues may have a time limit of their own. */
function isLater(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 3 || (major === 3 && minor >= 12);
}
