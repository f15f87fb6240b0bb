import type { RetryPolicy } from '../../topology/index.js';
import { contribute } from './contribution.js';

/** Which failures are worth another attempt. */
export interface RetryOptions {
  /** Errors of these classes are parked at once: no wait will make an invalid order valid. */
  // A class of errors may want any arguments; none is ever made here.
  readonly except?: readonly (abstract new (...args: never[]) => Error)[];
}

/**
 * Handles a message again when its handler fails, after a wait and a bounded number of times; then it is parked. It
 * needs no dead-letter exchange. A message whose acknowledgement is lost is handled twice: handlers must be idempotent.
 */
export const Retry = (policy: RetryPolicy, options: RetryOptions = {}): MethodDecorator =>
  contribute('Retry', { policy, ...options });
