import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ClientDetails, ClientState, TlsDetails, Traffic } from '../../engine/broker/index.js';
import type { FieldTable } from '../../engine/message/index.js';
import { bracketed } from '../../platform/index.js';
import type { Client, Tuning } from './handshake.js';

/** `TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384`, or without a key exchange since TLS 1.3. */
const suite = /^TLS_(?:(.+)_WITH_)?(.+?)(?:_(SHA\d*|MD5|CCM|CCM_8))?$/;

/** The TLS parameters and the client certificate of a connection, as RabbitMQ lists them. */
function tlsDetailsOf(socket: TLSSocket): TlsDetails {
  const [, exchange = 'any', cipher = '', hash = ''] = suite.exec(socket.getCipher().standardName) ?? [];
  const authenticates = /gcm|ccm|poly1305/i.test(`${cipher} ${hash}`);
  const { subject, issuer, valid_from, valid_to } = socket.getPeerCertificate();
  return {
    protocol: (socket.getProtocol() ?? '').toLowerCase(),
    keyExchange: exchange.toLowerCase(),
    cipher: cipher.toLowerCase(),
    hash: authenticates ? 'aead' : hash.toLowerCase(),
    ...(subject && {
      peerCertificate: {
        subject: named(subject),
        issuer: named(issuer),
        validity: `${instant(valid_from)} - ${instant(valid_to)}`,
      },
    }),
  };
}

/** Parts of a name, the last one first (RFC 4514). */
const named = (parts: object): string =>
  Object.entries(parts)
    .reverse()
    .flatMap(([key, value]) => [value].flat().map((one) => `${key}=${one}`))
    .join();

const instant = (date: string): string => new Date(date).toISOString().replace('.000', '');

/** A connection, as its details know it. */
interface DetailedConnection {
  readonly client: Client;
  readonly socket: Socket;
  readonly tuning: Tuning;
  readonly flow: { readonly counted: Traffic };
  readonly shownState: ClientState;
}

/** The details of an open connection for lists and the management API. Most of them are computed when they are read. */
export class ConnectionDetails implements ClientDetails {
  readonly protocol = 'AMQP 0-9-1';
  readonly host: string;
  readonly port: number;
  readonly peerHost: string;
  readonly peerPort: number;
  readonly connectedAt = Date.now();

  constructor(readonly connection: DetailedConnection) {
    const { localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 } = this.#socket;
    this.host = mapped(localAddress);
    this.port = localPort;
    this.peerHost = mapped(remoteAddress);
    this.peerPort = remotePort;
  }

  get name(): string {
    return `${bracketed(this.peerHost)}:${this.peerPort} -> ${bracketed(this.host)}:${this.port}`;
  }

  get authMechanism(): string {
    return this.connection.client.mechanism;
  }

  get isTls(): boolean {
    return this.#socket instanceof TLSSocket;
  }

  get tls(): TlsDetails | undefined {
    const socket = this.#socket;
    return socket instanceof TLSSocket ? tlsDetailsOf(socket) : undefined;
  }

  get channelMax(): number {
    return this.connection.tuning.channels;
  }

  get frameMax(): number {
    return this.connection.tuning.frameSize;
  }

  get timeout(): number {
    return this.connection.tuning.heartbeat;
  }

  get properties(): FieldTable {
    return this.connection.client.properties;
  }

  get userProvidedName(): string | undefined {
    return this.connection.client.connectionName;
  }

  traffic(): Traffic {
    return this.connection.flow.counted;
  }

  state(): ClientState {
    return this.connection.shownState;
  }

  get #socket(): Socket {
    return this.connection.socket;
  }
}

/** Shows an IPv4 address that is mapped to IPv6 as IPv4. */
const mapped = (address: string): string => (address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address);
