import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { endsOf, type PendingLogin } from '../../platform/logins/index.js';
import { withCommonReads } from './common-reads.js';
import type { Arrival } from './listener-context.js';

/** Certificates in PEM. TLS 1.2 at least. */
export interface TlsOptions {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  /** Clients must have a certificate of this authority. Without an authority no client needs a certificate. */
  readonly ca?: string | Buffer;
}

/** What an acceptor needs from its listener. */
export interface AcceptorHost {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** A socket was accepted. Undefined when there is no room for it. */
  arrive(socket: Socket): PendingLogin | undefined;
  /** A socket is ready for AMQP. */
  enter(socket: Socket, arrival: Arrival): void;
}

/** Accepts sockets. Those in their TLS handshake count as connections, and have a time limit. */
export class Acceptor {
  readonly server: Server;
  /** Sockets in their TLS handshake, by {@link endsOf}. */
  readonly #pending = new Map<string, Arrival>();

  constructor(
    tls: TlsOptions | undefined,
    readonly host: AcceptorHost,
  ) {
    const options = { noDelay: true, keepAlive: true };
    if (tls === undefined) {
      this.server = createServer({ ...options, pauseOnConnect: true }, (socket) =>
        this.#plain(withCommonReads(socket)),
      );
    } else {
      this.server = createTlsServer({ ...options, ...secured(tls) }, (socket) => this.#secured(socket));
      this.server.on('connection', (socket: Socket) => this.#handshaking(socket));
      this.server.on('tlsClientError', (_, socket: Socket) => socket.destroy());
    }
  }

  /** How many sockets have not got through their TLS handshake. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /** Ends connections whose TLS handshake takes longer than this, in milliseconds. */
  endOverdue(limit: number): void {
    const latest = this.host.now() - limit;
    for (const { tcp, at } of this.#pending.values()) if (at <= latest) tcp.destroy();
  }

  /** Accepts no connection any more, and ends those in their TLS handshake. */
  close(): void {
    this.server.close();
    for (const { tcp } of this.#pending.values()) tcp.destroy();
  }

  #plain(socket: Socket): void {
    const pendingLogin = this.host.arrive(socket);
    if (pendingLogin === undefined) socket.destroy();
    else this.host.enter(socket, { tcp: socket, at: this.host.now(), pendingLogin });
  }

  #handshaking(socket: Socket): void {
    const pendingLogin = this.host.arrive(socket);
    if (pendingLogin === undefined) return void socket.destroy();
    const ends = endsOf(socket);
    const pending = { tcp: socket, at: this.host.now(), pendingLogin };
    this.#pending.set(ends, pending);
    socket.once('close', () => {
      if (this.#pending.get(ends) !== pending) return;
      this.#pending.delete(ends);
      pendingLogin.remove();
    });
  }

  #secured(socket: Socket): void {
    const ends = endsOf(socket);
    const pending = this.#pending.get(ends);
    if (pending === undefined) return void socket.destroy(); // it was closed to make room for another socket
    this.#pending.delete(ends);
    this.host.enter(socket, pending);
  }
}

const secured = ({ cert, key, ca }: TlsOptions) => ({
  cert,
  key,
  minVersion: 'TLSv1.2' as const,
  ...(ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true }),
});
