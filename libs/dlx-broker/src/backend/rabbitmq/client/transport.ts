import type { Clock } from '../../../broker/index.js';

/**
 * A stream of bytes to a server and back. A connection is lent one: a TCP or TLS socket (`dial`), or, in tests and
 * simulations, anything that brings the bytes to a listener. No event may come within a call of one of its methods.
 */
export interface Transport {
  /** Bytes that were written and not yet taken by the other side or the system. */
  readonly waiting: number;
  /** Says where events go. Called once, before anything else. */
  attach(events: TransportEvents): void;
  /**
   * Sends bytes in order.
   * @param done called once when the bytes may be overwritten; without it they never are
   */
  write(bytes: Uint8Array, done?: () => void): void;
  /** What was written so far leaves now: called once at the end of a turn with output. */
  flush(): void;
  /** Says that nothing more follows; what was written is still sent. */
  end(): void;
  /** Ends both directions at once; `closed` follows. */
  destroy(): void;
}

/** What a transport reports to its connection. */
export interface TransportEvents {
  /** Bytes came. The connection may keep them. */
  received(bytes: Buffer): void;
  /** Everything written was taken. Only after {@link Transport.waiting} was above 0. */
  drained(): void;
  /** Both directions are closed. Called once, and nothing follows. @param failure what the system said, if it was a fault */
  closed(failure?: Error): void;
}

/** What a connection uses of its process. A simulation lends its own. */
export interface Surroundings {
  readonly clock: Clock;
  /** Calls back when the running turn is over and input that has come was read: `setImmediate` in a real process. */
  later(act: () => void): void;
}

/** Why a transport never came about: in {@link TransportEvents.closed}. */
export class DialError extends Error {
  override readonly name = 'DialError';

  constructor(
    readonly phase: 'connect' | 'tls',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
