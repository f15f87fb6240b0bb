import { contribute } from './contribution.js';

/** Limits the messages that the handler works on at the same time; 0 is unlimited. */
export const Prefetch = (messages: number): MethodDecorator => contribute('Prefetch', { value: messages });
