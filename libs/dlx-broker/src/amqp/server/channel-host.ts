import type { Connection } from '../../engine/broker/index.js';
import type { FrameWriter } from '../wire/index.js';
import type { Client } from './client.js';
import type { Limits } from './limits.js';
import type { SocketFlow } from './socket-flow.js';
import type { UnfinishedMessages } from './unfinished-messages.js';

/** A connection, as its channels know it. */
export interface ChannelHost {
  readonly to: FrameWriter;
  readonly engine: Connection;
  readonly client: Client;
  readonly limits: Limits;
  readonly profile: { readonly maxMessageSize: number };
  readonly flow: SocketFlow;
  readonly unfinished: UnfinishedMessages;
  /** The last frame has been written, or the client is gone. */
  readonly isMute: boolean;
  /** Whether an answer would overtake outputs of this connection; if so, reading goes on when they are sent. */
  waits(): boolean;
  /** Stops reading. @returns a function that resumes reading */
  hold(): () => void;
  /** Stops reading until all present outputs of this connection are sent; then calls `write`, which may answer. */
  holdUntilSent(write: () => void): void;
  /** Calls `write` when all outputs pending for this client are sent. */
  afterOutputs(write: () => void): void;
  /** Whether an alarm is raised, so that publishers have to wait. If so, the connection stops reading. */
  isBlocked(): boolean;
  /** Output was written. */
  wrote(): void;
  /** The channel is closed. */
  forget(channel: { readonly number: number }): void;
}
