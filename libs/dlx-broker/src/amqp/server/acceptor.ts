import { createServer, type Server, Socket, type SocketConstructorOpts } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { endsOf, type PendingLogin } from '../../platform/logins/index.js';
import { readBuffer } from '../wire/index.js';
import type { Arrival } from './listener-context.js';

/** Certificates in PEM. TLS 1.2 at least. */
export interface TlsOptions {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  /** Clients must have a certificate of this authority. Without an authority no client needs a certificate. */
  readonly ca?: string | Buffer;
}

/** What an acceptor needs from its listener. */
interface AcceptorHost {
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

/** A socket with the handle of the system that node keeps in it. The types of node leave it out. Bun has an empty object there. */
interface WithHandle {
  _handle?: { readonly readStart?: unknown } | null;
}

/**
 * Makes a socket whose reads come in {@link readBuffer}. Node has this only for sockets that it connects (`onread`), so an accepted
 * socket passes its handle to a new one. The reads are events `data` as usual.
 * @param accepted nothing was read from it: its server has `pauseOnConnect`
 * @returns the new socket; the accepted one if its handle cannot be passed on
 */
export function withCommonReads(accepted: Socket): Socket {
  const { _handle: handle } = accepted as WithHandle;
  if (typeof handle?.readStart !== 'function') return accepted.resume();
  (accepted as WithHandle)._handle = null;
  accepted.destroy(); // it has no handle any more, so nothing is closed
  const callback = (length: number): boolean => {
    socket.emit('data', readBuffer.subarray(0, length));
    return true;
  };
  const options = { handle, onread: { buffer: readBuffer, callback } };
  const socket = new Socket(options as SocketConstructorOpts);
  return socket;
}
