import { AmqpError } from '../../engine/broker/index.js';
import type { FrameHolder, HeldFrames } from '../wire/index.js';

/** Limits of a listener for its clients. */
export interface Limits {
  /**
   * Connections at a time. Beyond it, a new connection closes the one that has been silent longest without a login. If all have
   * logged in, the new connection is closed.
   */
  readonly connections: number;
  /** Connections of one address that have not logged in. Beyond it, the one that has been silent longest is closed. */
  readonly pendingLoginsOfAddress: number;
  /** Connections of all addresses that have not logged in. Beyond it, the one that has been silent longest is closed. */
  readonly pendingLogins: number;
  /** Channels of a connection, as offered in tune. */
  readonly channels: number;
  /** Consumers of a channel. */
  readonly consumers: number;
  /** Bytes of a frame with its eight bytes of overhead, as offered in tune. */
  readonly frameSize: number;
  /** Seconds of silence, as offered in tune; 0 for none. */
  readonly heartbeat: number;
  /** Milliseconds from the first byte of a connection to its open-ok. */
  readonly handshake: number;
  /** Milliseconds until a connection that was refused without a reason is closed (rule T3). */
  readonly silence: number;
  /** Milliseconds a client may take to answer a close. */
  readonly closing: number;
  /** Bytes that wait for a client to read them, before its deliveries stop. */
  readonly unread: number;
  /**
   * Bytes received of messages that are not complete, over all channels of a connection; more closes it with 506. The
   * default is four bodies of the largest size at a time.
   */
  readonly unfinished: number;
  /**
   * Bytes of frames of which only a part has come, over all connections. Above it the connections that have been silent
   * longest in the middle of a frame are closed with 506. The same number of bytes may wait unread in blocked
   * connections before they count under a memory alarm.
   */
  readonly unfinishedFrames: number;
  /**
   * Milliseconds between two heartbeats to a client from which nothing is read, even if no heartbeat was negotiated: only a
   * write detects that such a client is gone.
   */
  readonly signOfLife: number;
  /**
   * Milliseconds that the memory alarm waits for messages that are not complete and transactions that are not committed.
   * Then, if it would end without them, connections that hold most of them are closed with 506.
   */
  readonly unfinishedUnderAlarm: number;
}

export const defaultLimits: Limits = {
  connections: 20_000,
  pendingLoginsOfAddress: 1_024,
  pendingLogins: 4_096,
  channels: 2047,
  consumers: 10_000,
  frameSize: 131_072,
  heartbeat: 60,
  handshake: 10_000,
  silence: 3_000,
  closing: 30_000,
  unread: 1_048_576,
  unfinished: 536_870_912,
  unfinishedFrames: 134_217_728,
  signOfLife: 10_000,
  unfinishedUnderAlarm: 30_000,
};

/**
 * Frames of which only a part has come, over all connections of a listener. Above the limit the holder
 * that has been silent longest drops its part and its connection: a client that goes on sending is safe from this.
 */
export class UnfinishedFrames implements HeldFrames {
  /** Bytes held now. */
  bytes = 0;
  /** The holders of a part, those silent for longest first. */
  readonly #holders = new Set<FrameHolder>();

  /** @param limit bytes at most */
  constructor(readonly limit: number) {}

  grew(holder: FrameHolder, bytes: number): void {
    this.bytes += bytes;
    this.#holders.delete(holder);
    this.#holders.add(holder);
    if (this.bytes <= this.limit) return;
    for (const silent of this.#holders) {
      silent.drop();
      if (this.bytes <= this.limit) return;
    }
  }

  released(holder: FrameHolder, bytes: number): void {
    if (this.#holders.delete(holder)) this.bytes -= bytes;
  }
}

/** The error of a connection whose unfinished frame was dropped. */
export const tooManyFrames = (limit: number): AmqpError =>
  new AmqpError(
    'RESOURCE_ERROR',
    `unfinished frames of all connections exceed ${limit} bytes, and this one was silent in the middle of a frame longest; send frames without pauses, or raise limits.unfinishedFrames`,
  );

/** Counts the bytes of messages that are not complete, over all channels of a connection. */
export class UnfinishedMessages {
  /** Bytes counted now. */
  bytes = 0;

  /** @param limit bytes at most */
  constructor(readonly limit: number) {}

  /** Adds bytes, or subtracts them if negative. @throws AmqpError 506 above the limit, without adding them */
  count(bytes: number): void {
    const sum = this.bytes + bytes;
    if (bytes > 0 && sum > this.limit) throw tooMany(this.limit);
    this.bytes = sum;
  }
}

const tooMany = (limit: number): AmqpError =>
  new AmqpError(
    'RESOURCE_ERROR',
    `unfinished messages of this connection exceed ${limit} bytes; finish them before others are begun, or raise limits.unfinished`,
  );
