import { contribute } from './contribution.js';
import type { LengthOptions } from './max-length.js';

/** How many bytes of waiting message bodies the handler's queue holds. */
export const MaxLengthBytes = (bytes: number, options: LengthOptions = {}): MethodDecorator =>
  contribute('MaxLengthBytes', { value: bytes }, { given: options });
