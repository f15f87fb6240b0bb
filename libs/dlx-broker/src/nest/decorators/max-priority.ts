import { contribute } from './contribution.js';

/** The handler's queue tells priorities from 0 to this one apart; at most 255. */
export const MaxPriority = (priority: number): MethodDecorator => contribute('MaxPriority', { value: priority });
