import type { Socket } from 'node:net';
import type { Alarms } from '../../platform/alarms/index.js';
import type { Broker } from '../../engine/broker/index.js';
import type { FieldTable } from '../../engine/message/index.js';
import type { Logins, PendingLogin } from '../../platform/logins/index.js';
import type { Flusher } from './flusher.js';
import type { UnfinishedFrames } from './unfinished-frames.js';
import type { Limits } from './limits.js';
import type { Runtime } from './runtime.js';
import type { BufferPool } from '../wire/index.js';

/** How a connection arrived. */
export interface Arrival {
  /** The socket that the system accepted; with TLS, the one below the secured socket. */
  readonly tcp: Socket;
  /** When the system accepted it, by the clock of the context: with TLS, before the TLS handshake. */
  readonly at: number;
  /** Its entry among the connections without a login. */
  readonly pendingLogin: PendingLogin;
}

/**
 * What all connections of a listener share.
 * @typeParam Connection what the listener keeps of its connections
 */
export interface ListenerContext<Connection extends object = object> extends Runtime {
  readonly broker: Broker;
  readonly limits: Limits;
  readonly logins: Logins;
  /** The server properties. */
  readonly properties: FieldTable;
  readonly pool: BufferPool;
  readonly flusher: Flusher;
  readonly alarms: Alarms;
  readonly frames: UnfinishedFrames;
  /** Reports an internal fault. */
  log(error: unknown): void;
  /** A connection has logged in and is open. */
  entered(connection: Connection): void;
  /** A connection is gone. */
  forget(connection: Connection): void;
}
