import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { readBuffer } from '../wire/index.js';
import { DialError, type Transport, type TransportEvents } from './transport.js';

/** Options of TLS that a client needs, as Node's `tls.connect` has them. */
export interface TlsOptions {
  readonly ca?: string | Buffer | (string | Buffer)[];
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly pfx?: string | Buffer;
  readonly passphrase?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** Where a server is. */
export interface Address {
  /** A name, or an address of IPv4 or IPv6. */
  readonly host: string;
  readonly port: number;
  /** TLS 1.2 at least. Without it plain TCP. */
  readonly tls?: TlsOptions;
  /** Milliseconds until TCP, and TLS, must be connected. Default 5000. */
  readonly timeout?: number;
}

/** The most bytes of a turn that are collected for one write. */
const heldBack = 65_536;

/** Begins to connect. A failure comes as `closed` with a {@link DialError}. */
export function dial(address: Address): Transport {
  try {
    return new SocketTransport(address);
  } catch (error) {
    // An invalid certificate, or an invalid port.
    const failure = error as Error;
    const phase = address.tls === undefined ? 'connect' : 'tls';
    return new DeadTransport(new DialError(phase, failure.message, { cause: failure }));
  }
}

/** A transport for options that Node refuses. It reports the failure as `closed`. */
class DeadTransport implements Transport {
  readonly waiting = 0;

  constructor(readonly failure: DialError) {}

  attach(events: TransportEvents): void {
    setImmediate(() => events.closed(this.failure));
  }

  write(_: Uint8Array, done?: () => void): void {
    done?.();
  }

  flush(): void {}

  end(): void {}

  destroy(): void {}
}

/** Node's codes for a certificate whose authority is not known. */
const unknownAuthority: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** What OpenSSL says of an answer that is no record of TLS. */
const isNoTls = /wrong version number|packet length too long/;

function tlsHint(failure: (Error & { readonly code?: unknown }) | undefined): string {
  if (unknownAuthority.has(failure?.code)) return "; give the certificate of its authority by option 'tls' ({ ca })";
  if (isNoTls.test(failure?.message ?? ''))
    return '; a port without TLS answers so: use amqp, or name the port with TLS';
  if (failure?.code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return '';
  return "; connect to a name that the certificate has, or name the server by option 'tls' ({ servername })";
}

class SocketTransport implements Transport {
  readonly #socket: Socket;
  readonly #address: Address;
  #events: TransportEvents | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isConnected = false;
  #isTcp = false;
  #failure: Error | undefined;
  #corked = 0;

  constructor(address: Address) {
    const { host, port, tls, timeout = 5_000 } = address;
    this.#address = address;
    const tcp = { host, port, noDelay: true, keepAlive: true };
    const servername = isIP(host) === 0 ? { servername: host } : {};
    this.#socket =
      tls === undefined
        ? connectTcp({ ...tcp, onread: { buffer: readBuffer, callback: (length) => this.#read(length) } })
        : connectTls({ ...tcp, minVersion: 'TLSv1.2', ...servername, ...tls });
    this.#socket.once('connect', () => (this.#isTcp = true));
    this.#socket.once(tls === undefined ? 'connect' : 'secureConnect', () => this.#connected());
    this.#timer = setTimeout(() => this.#late(timeout), timeout);
  }

  get waiting(): number {
    return this.#socket.writableLength;
  }

  attach(events: TransportEvents): void {
    this.#events = events;
    if (this.#address.tls !== undefined) this.#socket.on('data', (bytes) => events.received(bytes as Buffer));
    this.#socket.on('drain', () => events.drained());
    this.#socket.on('error', (error) => (this.#failure ??= error));
    this.#socket.on('close', () => {
      clearTimeout(this.#timer);
      events.closed(this.#isConnected ? this.#failure : this.#dialError());
    });
  }

  write(bytes: Uint8Array, done?: () => void): void {
    if (!this.#socket.writable) return done?.();
    if (this.#corked === 0) this.#socket.cork();
    this.#corked += bytes.length;
    this.#socket.write(bytes, done);
    if (this.#corked >= heldBack) this.flush();
  }

  flush(): void {
    this.#corked = 0;
    this.#socket.uncork();
  }

  end(): void {
    this.flush();
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** @returns true: reading goes on */
  #read(length: number): boolean {
    this.#events?.received(readBuffer.subarray(0, length));
    return true;
  }

  #connected(): void {
    this.#isConnected = true;
    clearTimeout(this.#timer);
  }

  #late(timeout: number): void {
    const what = this.#isTcp ? 'TLS' : 'TCP';
    this.#socket.destroy(new Error(`no ${what} connection within ${timeout} ms`));
  }

  #dialError(): DialError {
    const phase = this.#isTcp && this.#address.tls !== undefined ? 'tls' : 'connect';
    const detail = textOf(this.#failure ?? new Error('the socket was closed before it was connected'));
    const text = phase === 'tls' ? `TLS failed: ${detail.trim()}${tlsHint(this.#failure)}` : detail;
    return new DialError(phase, text, { cause: this.#failure });
  }
}

/** Node gives an empty message when all of several addresses failed. */
function textOf(failure: Error): string {
  if (!(failure instanceof AggregateError)) return failure.message;
  return failure.errors.map((error) => (error as Error).message).join(', ');
}
