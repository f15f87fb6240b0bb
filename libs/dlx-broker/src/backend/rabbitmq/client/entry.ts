import type { AmqpConnection, ChannelEvents, ConfirmPublisher, ConnectionEvents, Done } from './api.js';
import type { ConnectionOptions } from './options.js';
import type { Surroundings, Transport } from './transport.js';

/** Where a server is. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** Options of Node's `tls.connect`: `ca`, `cert`, `key`, `servername`, `rejectUnauthorized` ... Without them plain TCP. */
  readonly tls?: TlsOptions;
  /** Milliseconds until the TCP connection, and TLS, must be there. Default 5000. */
  readonly timeout?: number;
}

/** Of Node's options for TLS those that a client needs. */
export interface TlsOptions {
  readonly ca?: string | Buffer | readonly (string | Buffer)[];
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly pfx?: string | Buffer;
  readonly passphrase?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** `dial.ts`: begins to connect; a failure comes as `closed`, a `DialError`. */
export type Dial = (address: Address) => Transport;

/** `connection.ts`: `openConnection`. The first event is `opened` or `closed`, never within the call. */
export type OpenConnection = (
  options: ConnectionOptions,
  transport: Transport,
  surroundings: Surroundings,
  events: ConnectionEvents,
) => AmqpConnection;

/** `publisher.ts`: `openPublisher` opens a channel with confirms. Publishing may begin at once. */
export type OpenPublisher = (
  connection: AmqpConnection,
  events: Pick<ChannelEvents, 'closed' | 'returned' | 'flow'>,
  done?: Done,
) => ConfirmPublisher;
