import type { FieldTable } from '../message/index.js';

/** A client at the other end of a connection, as its listener knows it. Management shows it. */
export interface ClientDetails {
  /** `127.0.0.1:43210 -> 127.0.0.1:5672`. */
  readonly name: string;
  /** The broker's end. */
  readonly host: string;
  readonly port: number;
  /** The client's end. */
  readonly peerHost: string;
  readonly peerPort: number;
  readonly protocol: string;
  /** `PLAIN` ... */
  readonly authMechanism: string;
  readonly isTls: boolean;
  /** Undefined without TLS. */
  readonly tls?: TlsDetails | undefined;
  readonly channelMax: number;
  readonly frameMax: number;
  /** Seconds between heartbeats, 0 without. */
  readonly timeout: number;
  /** Milliseconds since 1970. */
  readonly connectedAt: number;
  /** The client properties of `connection.start-ok`. */
  readonly properties: FieldTable;
  /** Its `connection_name`. */
  readonly userProvidedName?: string | undefined;
  /** The bytes and frames received and sent so far. */
  traffic(): Traffic;
  state(): ClientState;
}

/** The TLS parameters of a connection, in RabbitMQ's words. */
export interface TlsDetails {
  /** `tlsv1.3` */
  readonly protocol: string;
  /** `ecdhe_rsa`; `any` since TLS 1.3 */
  readonly keyExchange: string;
  /** `aes_256_gcm` */
  readonly cipher: string;
  /** `aead`, or the hash of the message authentication */
  readonly hash: string;
  /** If the client had to present one. */
  readonly peerCertificate?: { readonly subject: string; readonly issuer: string; readonly validity: string };
}

export type ClientState = 'starting' | 'tuning' | 'opening' | 'running' | 'flow' | 'blocking' | 'blocked' | 'closing';

export interface Traffic {
  /** Bytes received. */
  readonly recvOct: number;
  /** Frames or packets received. */
  readonly recvCnt: number;
  readonly sendOct: number;
  readonly sendCnt: number;
  /** Bytes that wait to be sent. */
  readonly sendPend: number;
}
