import type { FrameWriter } from '../../../wire/index.js';
import type { AmqpConnection } from './api.js';
import type { HeldBytes } from './content-reader.js';

/** What a channel uses of its connection. */
export interface ChannelHost extends AmqpConnection {
  readonly to: FrameWriter;
  readonly held: HeldBytes;
  /** The channel with this number is over, and the number free. */
  forget(channel: { readonly number: number }): void;
}
