import { contribute } from './contribution.js';

/** How many messages the handler works on at the same time; 0 is unlimited. */
export const Prefetch = (messages: number): MethodDecorator => contribute('Prefetch', { value: messages });
