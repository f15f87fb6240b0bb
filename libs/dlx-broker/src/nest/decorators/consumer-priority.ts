import { contribute } from './contribution.js';

/**
 * Sets the priority of the consumer: consumers of higher priority are served first, while their prefetch allows.
 * Default 0.
 */
export const ConsumerPriority = (priority: number): MethodDecorator =>
  contribute('ConsumerPriority', { value: priority });
