import { contribute } from './contribution.js';
import type { LengthOptions } from './max-length.js';

/** Limits the bytes of the ready messages' bodies in the handler's queue. */
export const MaxLengthBytes = (bytes: number, options: LengthOptions = {}): MethodDecorator =>
  contribute('MaxLengthBytes', { value: bytes }, { given: options });
