import type { Socket } from 'node:net';
import type { PendingLogin } from '../../logins/index.js';

/** The bytes that a client has to read within a write timeout. */
const least = 262_144;

/** One connection of the HTTP API. */
export class HttpConnection {
  /** The socket of HTTP; with TLS its encrypted side. */
  socket: Socket;
  /** The pending login; undefined once the client has logged in. */
  pendingLogin: PendingLogin | undefined;
  /** The user that logged in last. */
  user: string | undefined;
  /** The number of requests whose answers have not ended. */
  active = 0;
  /** The bytes of replies that are made and not read. */
  unread = 0;
  #sent = 0;
  #sentAt: number;

  constructor(
    readonly plain: Socket,
    readonly ends: string,
    now: number,
  ) {
    this.socket = plain;
    this.#sentAt = now;
  }

  /** The milliseconds since the client last read enough; 0 if no reply waits. */
  stalledFor(now: number): number {
    const { bytesWritten, writableLength } = this.socket;
    const sent = bytesWritten - writableLength;
    if ((writableLength === 0 && this.unread === 0) || sent - this.#sent >= least) {
      this.#sent = sent;
      this.#sentAt = now;
    }
    return now - this.#sentAt;
  }
}
