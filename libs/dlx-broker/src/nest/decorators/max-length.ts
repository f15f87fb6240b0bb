import { contribute } from './contribution.js';

/** What a full queue does with one message more. */
export interface LengthOptions {
  readonly overflow?: 'drop-head' | 'reject-publish' | 'reject-publish-dlx';
}

/** Limits the ready messages of the handler's queue. */
export const MaxLength = (messages: number, options: LengthOptions = {}): MethodDecorator =>
  contribute('MaxLength', { value: messages }, { given: options });
