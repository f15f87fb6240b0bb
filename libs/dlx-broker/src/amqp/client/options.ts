import type { FieldTable } from '../../engine/message/index.js';

/** The login of a client. */
export type Credentials =
  | { readonly mechanism?: 'PLAIN' | 'AMQPLAIN'; readonly user: string; readonly password: string }
  /** A login by the certificate of the client. */
  | { readonly mechanism: 'EXTERNAL' };

/** How a connection to a server is opened. */
export interface ConnectionOptions {
  /** Host and port as errors name them, such as `rabbit-1:5672`. */
  readonly place: string;
  readonly credentials: Credentials;
  /** Default `/`. */
  readonly virtualHost?: string;
  /** A name that management shows. */
  readonly name?: string;
  /** More client properties, such as `product`. */
  readonly properties?: FieldTable;
  /**
   * Seconds of a heartbeat interval. The client sends a heartbeat after half an interval without output, and ends the
   * connection when nothing came from the server for two intervals. The smaller one of this and the server's counts; 0 switches
   * heartbeats off. Default 30.
   */
  readonly heartbeat?: number;
  /** Bytes of a frame at most. Default 131072. */
  readonly frameMax?: number;
  /** Channels at most. Default 2047. */
  readonly channelMax?: number;
  /** Milliseconds from `open` until the server has opened the virtual host. Default 10000. */
  readonly handshakeTimeout?: number;
  /** Milliseconds that the server may take to answer a close. Default 5000. */
  readonly closeTimeout?: number;
  /** Bytes of the body of one message from the server at most. Default 536870912. */
  readonly maxMessageSize?: number;
  /** With more unsent bytes the connection is congested, until {@link ConnectionEvents.drained}. Default 1048576. */
  readonly highWaterMark?: number;
}

export const defaults = {
  virtualHost: '/',
  heartbeat: 30,
  frameMax: 131_072,
  channelMax: 2047,
  handshakeTimeout: 10_000,
  closeTimeout: 5_000,
  maxMessageSize: 536_870_912,
  highWaterMark: 1_048_576,
} as const;
