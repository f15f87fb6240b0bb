import type { Socket } from 'node:net';
import type { PendingLogin } from '../../logins/index.js';

/** Bytes that a client reads at least in the time of a write timeout. */
const least = 262_144;

/** One connection of the HTTP API. */
export class HttpConnection {
  /** Speaks HTTP; with TLS the encrypted side. */
  socket: Socket;
  /** Until it has logged in. */
  pendingLogin: PendingLogin | undefined;
  /** The user that logged in last. */
  user: string | undefined;
  /** Requests whose answers are not over. */
  active = 0;
  /** Bytes of replies that are made and not over. */
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

  /** Milliseconds since its client last read enough; 0 when nothing waits for it. */
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
