import { contribute } from './contribution.js';

/** Consumers of higher priority are served first, as long as they have room; 0 unless said otherwise. */
export const ConsumerPriority = (priority: number): MethodDecorator =>
  contribute('ConsumerPriority', { value: priority });
