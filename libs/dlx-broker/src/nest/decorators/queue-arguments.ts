import { contribute } from './contribution.js';

/** Sets further arguments of the handler's queue, by their AMQP names. */
export const QueueArguments = (args: Readonly<Record<string, unknown>>): MethodDecorator =>
  contribute('QueueArguments', { arguments: args });
