import type { Socket } from 'node:net';
import type { Broker } from '../../engine/broker/index.js';
import type { FieldTable } from '../../engine/message/index.js';
import type { Alarms } from '../../platform/alarms/index.js';
import type { Logins, PendingLogin } from '../../platform/logins/index.js';
import type { BufferPool } from '../wire/index.js';
import type { Limits, UnfinishedFrames } from './limits.js';

/** What a listener needs from its process. Simulations replace it. */
export interface Runtime {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Calls back in a later turn of the event loop, after the input of this turn was handled. */
  later(act: () => void): void;
  /**
   * Calls back once after this many milliseconds. The timer does not keep the process alive.
   * @returns cancels the call
   */
  after(milliseconds: number, act: () => void): () => void;
}

/** The event loop and the timers of this process. */
export const processRuntime: Runtime = {
  now: () => performance.now(),
  later: (act) => void setImmediate(act),
  after: (milliseconds, act) => {
    const timer = setTimeout(act, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};

/** Something that gathers output until the turn of the event loop is over. */
interface Flushable {
  flush(): void;
}

/** Flushes the connections that have output, once a turn: after the input of all sockets was handled. */
export class Flusher {
  #waiting: Flushable[] = [];
  #isSet = false;

  /** @param later calls back when the turn is over */
  constructor(private readonly later: (act: () => void) => void) {}

  schedule(flushable: Flushable): void {
    this.#waiting.push(flushable);
    if (this.#isSet) return;
    this.#isSet = true;
    this.later(this.#flush);
  }

  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#isSet = false;
    for (const flushable of waiting) flushable.flush();
  };
}

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
