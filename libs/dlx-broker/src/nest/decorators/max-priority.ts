import { contribute } from './contribution.js';

/** Sets the highest priority of the handler's queue, 1 to 255. */
export const MaxPriority = (priority: number): MethodDecorator => contribute('MaxPriority', { value: priority });
