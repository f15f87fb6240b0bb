import { shownText } from '../../platform/index.js';

/** An error of the client. It never holds a password. */
export abstract class ClientError extends Error {}

/** Why a connection could not be opened. */
export type ConnectFailure =
  /** The address was not found, or nothing listens there. */
  | 'unreachable'
  | 'timeout'
  | 'tls'
  /** The other side does not speak AMQP 0-9-1. */
  | 'not AMQP'
  /** User, password or certificate were refused. */
  | 'credentials'
  /** The virtual host does not exist, or the user may not enter it. */
  | 'virtual host'
  /** The server closed the connection for another reason, see `code`. */
  | 'refused'
  /** The client itself closed it. */
  | 'closed';

/** The connection could not be opened. */
export class ConnectionFailedError extends ClientError {
  override readonly name = 'ConnectionFailedError';

  constructor(
    readonly reason: ConnectFailure,
    /** Host and port. */
    readonly place: string,
    readonly virtualHost: string,
    detail: string,
    /** AMQP's reply code, if the server sent one. */
    readonly code?: number,
    options?: ErrorOptions,
  ) {
    super(`cannot connect to ${place} (virtual host '${virtualHost}'): ${shownText(detail)}`, options);
  }
}

/** What ended a connection that was open. */
export type ConnectionEnd =
  /** The server said why, see `code`. */
  | 'server'
  /** The socket was closed, or failed. */
  | 'socket'
  /** Nothing came for two heartbeats, or no answer to what was published. */
  | 'silence'
  /** The server broke the protocol. */
  | 'protocol'
  /** The client closed it. */
  | 'client';

/** The connection has ended. For each outstanding command it is unknown whether the server executed it. */
export class ConnectionClosedError extends ClientError {
  override readonly name = 'ConnectionClosedError';

  constructor(
    readonly reason: ConnectionEnd,
    readonly place: string,
    detail: string,
    /** AMQP's reply code, if the server sent one: 320 for a shutdown. */
    readonly code?: number,
    options?: ErrorOptions,
  ) {
    super(`connection to ${place} lost: ${shownText(detail)}`, options);
  }
}

/** The channel was closed: by the server for an error of this channel, or by the client (code 200). */
export class ChannelClosedError extends ClientError {
  override readonly name = 'ChannelClosedError';

  constructor(
    /** AMQP's reply code: 404, 406 ... */
    readonly code: number,
    /** The server's text as it came, such as `NOT_FOUND - no exchange 'x' in vhost '/'`. */
    readonly text: string,
    /** The method that failed, such as `basic.publish`; empty if the server named none. */
    readonly method: string,
  ) {
    super(`channel closed: ${shownText(text)}${method === '' ? '' : ` (${method})`}`);
  }
}

/** The server refused a message (basic.nack): a queue is full, or has no leader. Other queues may have taken it. */
export class NackedError extends ClientError {
  override readonly name = 'NackedError';

  constructor(
    readonly exchange: string,
    readonly routingKey: string,
  ) {
    super(`the server refused a message to exchange '${exchange}' with routing key '${routingKey}' (nack)`);
  }
}

/** A mandatory message reached no queue (basic.return). */
export class ReturnedError extends ClientError {
  override readonly name = 'ReturnedError';

  constructor(
    readonly exchange: string,
    readonly routingKey: string,
    /** 312 for no route, 313 for no consumers. */
    readonly code: number,
    readonly text: string,
  ) {
    super(`${shownText(text)}: a message to exchange '${exchange}' with routing key '${routingKey}' was returned`);
  }
}

/** A command cannot be encoded, or cannot be sent in the present state. Nothing was sent. */
export class UnsendableError extends ClientError {
  override readonly name = 'UnsendableError';
}
