import type { Alarms } from '../alarms/index.js';
import type { Broker } from '../broker/index.js';
import type { FieldTable } from '../message/index.js';
import type { Logins, PendingLogin } from '../logins/index.js';
import type { Flusher } from './flusher.js';
import type { UnfinishedFrames } from './unfinished-frames.js';
import type { Limits } from './limits.js';
import type { BufferPool } from '../wire/index.js';

/** How a connection came in. */
export interface Arrival {
  /** When the system accepted the socket, by the clock of the context. */
  readonly at: number;
  /** Among those that have not logged in. */
  readonly pendingLogin: PendingLogin;
}

/**
 * What all connections of a listener share.
 * @typeParam Connection what the listener keeps of its connections
 */
export interface ListenerContext<Connection extends object = object> {
  readonly broker: Broker;
  readonly limits: Limits;
  readonly logins: Logins;
  /** What the server says of itself. */
  readonly properties: FieldTable;
  readonly pool: BufferPool;
  readonly flusher: Flusher;
  readonly alarms: Alarms;
  readonly frames: UnfinishedFrames;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Something that must not happen did. */
  log(error: unknown): void;
  /** A connection has logged in and is open. */
  entered(connection: Connection): void;
  /** A connection is gone. */
  forget(connection: Connection): void;
}
