import { contribute } from './contribution.js';

/** Arguments of the handler's queue for which there is no decorator, as AMQP names them. */
export const QueueArguments = (args: Readonly<Record<string, unknown>>): MethodDecorator =>
  contribute('QueueArguments', { arguments: args });
