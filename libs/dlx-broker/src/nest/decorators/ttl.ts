import { contribute } from './contribution.js';

/** Limits how long a message waits in the handler's queue: milliseconds, or a text such as `'30s'` or `'5 minutes'`. */
export const Ttl = (duration: number | string): MethodDecorator => contribute('Ttl', { value: duration });
