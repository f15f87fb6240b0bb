import { contribute } from './contribution.js';

/** One consumer of the handler's queue works at a time; the others step in when it goes. */
export const SingleActiveConsumer = (): MethodDecorator => contribute('SingleActiveConsumer', { value: true });
