import { contribute } from './contribution.js';

/** Deletes the handler's queue, with its messages, after this time without a consumer: milliseconds or `'1h'`. */
export const Expires = (duration: number | string): MethodDecorator => contribute('Expires', { value: duration });
