import { contribute } from './contribution.js';

/** One consumer of the handler's queue is active at a time; the next one takes over when it ends. */
export const SingleActiveConsumer = (): MethodDecorator => contribute('SingleActiveConsumer', { value: true });
