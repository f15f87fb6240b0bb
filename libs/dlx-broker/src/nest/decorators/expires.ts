import { contribute } from './contribution.js';

/** After how long without a consumer the handler's queue is deleted, with everything in it: milliseconds or `'1h'`. */
export const Expires = (duration: number | string): MethodDecorator => contribute('Expires', { value: duration });
