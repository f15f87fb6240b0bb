import { contribute } from './contribution.js';

export interface QuorumOptions {
  /** How often a message may come back to the queue before it is dead-lettered. */
  readonly deliveryLimit?: number;
}

/** The handler's queue is a quorum queue: replicated on a cluster, and it counts deliveries. */
export const Quorum = (options: QuorumOptions = {}): MethodDecorator =>
  contribute('Quorum', { type: 'quorum' }, { given: options });
