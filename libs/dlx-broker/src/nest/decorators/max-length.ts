import type { Overflow } from '../../topology/index.js';
import { contribute } from './contribution.js';

/** What a full queue does with one message more. */
export interface LengthOptions {
  readonly overflow?: Overflow;
}

/** Limits the ready messages of the handler's queue. */
export const MaxLength = (messages: number, options: LengthOptions = {}): MethodDecorator =>
  contribute('MaxLength', { value: messages }, { given: options });
