import type { FrameWriter } from '../wire/index.js';
import type { AmqpConnection } from './api.js';
import type { HeldBytes } from './content-reader.js';

/** What a channel needs from its connection. */
export interface ChannelHost extends AmqpConnection {
  readonly to: FrameWriter;
  readonly held: HeldBytes;
  /** Calls those that wait for the end of the turn, before a method that the server answers. */
  endTurn(): void;
  /** Releases the number of a channel that has ended. */
  forget(channel: { readonly number: number }): void;
}
