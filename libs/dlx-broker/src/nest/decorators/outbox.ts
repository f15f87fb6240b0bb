import type { OutboxOptions } from '../features/outbox/limits.js';
import { contribute } from './contribution.js';

/**
 * What the handler emits leaves with the ack of its message, or not at all: it is collected, published when the handler has succeeded,
 * and dropped when it fails. The reply to a request goes with it.
 * @param outbox limits, or false for a handler that publishes at once although option `outbox` of the module is set
 */
export const Outbox = (outbox: boolean | OutboxOptions = true): MethodDecorator =>
  contribute('Outbox', { value: outbox });
