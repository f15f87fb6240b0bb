import type { Clock } from '../../engine/broker/index.js';

/**
 * A stream of bytes to a server and back: a TCP or TLS socket (`dial`), or in tests and simulations a replacement that
 * reaches a listener. It emits no event during a call of one of its methods.
 */
export interface Transport {
  /** Bytes that were written and not yet taken by the other side or the system. */
  readonly waiting: number;
  /** Sets the listener. Called once, before all other methods. */
  attach(events: TransportEvents): void;
  /**
   * Sends bytes in order.
   * @param done called once when the caller may overwrite the bytes. Without it the caller never overwrites them
   */
  write(bytes: Uint8Array, done?: () => void): void;
  /** Sends the written bytes now. Called once at the end of each turn with output. */
  flush(): void;
  /** Ends the output. Written bytes are still sent. */
  end(): void;
  /** Ends both directions at once; `closed` follows. */
  destroy(): void;
}

/** The events of a transport. */
export interface TransportEvents {
  /** Bytes came. They are valid until the call returns, because the next read may overwrite them. */
  received(bytes: Buffer): void;
  /** All written bytes were sent. Called only after {@link Transport.waiting} was above 0. */
  drained(): void;
  /** Both directions are closed. Called once, as the last event. @param failure the error of the system, if any */
  closed(failure?: Error): void;
}

/** What a connection needs from its process. Simulations replace it. */
export interface Runtime {
  readonly clock: Clock;
  /** Calls back after this turn, when received input was read: `setImmediate` in a real process. */
  later(act: () => void): void;
}

/** The reason why a transport could not connect, for {@link TransportEvents.closed}. */
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
