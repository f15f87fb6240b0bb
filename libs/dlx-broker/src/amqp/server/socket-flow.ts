import type { Socket } from 'node:net';
import type { Traffic } from '../../engine/broker/index.js';
import type { ListenerContext } from './listener-context.js';
import { type FrameOutput, FrameWriter } from '../wire/index.js';

/** What a connection does when its reading or its deliveries have to stop or continue. */
export interface Backpressure {
  /** Much output waits for the client: no more deliveries. */
  overfull(): void;
  /** Far too much output waits for the client: nothing more is read from it. */
  flooded(): void;
  /** The client has read its output. */
  relieved(): void;
  /** The other connections have been read since {@link SocketFlow.handled}. */
  rested(): void;
}

/**
 * Bytes that a connection may send before its reading rests for a turn of the event loop. Without rests, node reads up to 2 MB of one
 * connection in a row: tens of thousands of small messages, for which all other connections wait.
 */
const untilRest = 262_144;

/** Reading stops at this many times the bytes at which deliveries stop. */
const floodFactor = 16;

/** A client counts as dead after a silence of this many heartbeat timeouts. */
const timeoutsUntilDead = 3;

/**
 * Half the time between two ticks, in milliseconds: the tick closest to the due time of a heartbeat sends it, even if it is
 * early.
 */
const halfTick = 250;

const noTimer = (): void => undefined;

/** The socket of a connection: its output, flow control, heartbeats, and end. */
export class SocketFlow implements FrameOutput {
  readonly to: FrameWriter;
  isOverfull = false;
  /**
   * Far too much output waits, so nothing more is read. The limit is high: a client may send many requests before it
   * reads.
   */
  isFlooded = false;
  /** Reading waits until the other connections have been read. */
  #isResting = false;
  #sinceRest = 0;
  /** Bytes of messages that will be delivered, and are not written yet. */
  #reserved = 0;
  #heardAt: number;
  #sentAt: number;
  #cancelTimer = noTimer;
  #received = 0;
  #sent = 0;

  constructor(
    readonly socket: Socket,
    readonly tcp: Socket,
    readonly context: ListenerContext,
    readonly pressure: Backpressure,
  ) {
    this.to = new FrameWriter(context.pool, this);
    this.#heardAt = this.#sentAt = context.now();
    socket.on('drain', () => this.#relieve());
  }

  /** Bytes received and sent, and the number of reads and writes. */
  get counted(): Traffic {
    const { bytesRead, bytesWritten, writableLength } = this.socket;
    return {
      recvOct: bytesRead,
      recvCnt: this.#received,
      sendOct: bytesWritten - writableLength,
      sendCnt: this.#sent,
      sendPend: writableLength + this.to.pending,
    };
  }

  /** Nothing is read from the client now. */
  get isStopped(): boolean {
    return this.isFlooded || this.#isResting;
  }

  heard(bytes: number): void {
    this.#received++;
    this.#sinceRest += bytes;
    const { alarms, now } = this.context;
    this.#heardAt = now();
    alarms.received(bytes);
  }

  /** The bytes heard were handled: after many of them reading rests. */
  handled(): void {
    if (this.#sinceRest < untilRest) return;
    this.#sinceRest = 0;
    if (this.socket.writableEnded) return; // a paused socket does not report its end
    this.#isResting = true;
    this.socket.pause();
    this.context.later(() => {
      this.#isResting = false;
      this.pressure.rested();
    });
  }

  write(bytes: Uint8Array, done: (() => void) | undefined): void {
    if (!this.socket.writable) return done?.();
    this.#sent++;
    this.socket.write(bytes, done);
  }

  requestFlush(): void {
    this.context.flusher.schedule(this);
  }

  flush(): void {
    this.#reserved = 0;
    if (this.to.pending > 0) {
      this.#sentAt = this.context.now();
      this.to.flush();
      this.check();
    }
    if (!this.socket.writableNeedDrain) this.#relieve();
  }

  /** Reserves bytes for a message that will be delivered. @returns whether there is room for more */
  reserve(bytes: number): boolean {
    this.#reserved += bytes;
    if (this.#waiting > this.context.limits.unread) this.#stop();
    return !this.isOverfull;
  }

  /** Stops deliveries when too much waits for the client. */
  check(): void {
    const { unread } = this.context.limits;
    const waiting = this.to.pending + this.socket.writableLength;
    if (waiting <= unread) return;
    this.#stop();
    if (waiting <= unread * floodFactor || this.isFlooded) return;
    this.isFlooded = true;
    this.pressure.flooded();
  }

  get #waiting(): number {
    return this.#reserved + this.to.pending + this.socket.writableLength;
  }

  #stop(): void {
    if (this.isOverfull) return;
    this.isOverfull = true;
    this.requestFlush();
    this.pressure.overfull();
  }

  /**
   * Sends a heartbeat when nothing else was sent for half the timeout; closes the socket of a client that has been silent too long.
   * @param heartbeat the timeout in seconds; 0 for none
   */
  tick(now: number, heartbeat: number): void {
    if (this.socket.isPaused()) {
      this.#heardAt = now; // this side does not read, so the client need not be silent
      if (now - this.#sentAt >= this.context.limits.signOfLife) return this.to.heartbeat();
    }
    if (heartbeat === 0) return;
    if (now - this.#heardAt >= timeoutsUntilDead * heartbeat * 1000) return this.drop();
    if (now - this.#sentAt < heartbeat * 500 - halfTick) return;
    this.to.heartbeat();
  }

  /** Sends the remaining output and ends the socket. @param after milliseconds to wait; then the socket is dropped */
  end(after: number): void {
    this.flush();
    if (after > 0) return this.dropAfter(after);
    this.socket.resume(); // a paused socket does not report its end
    this.socket.end();
    this.dropAfter(this.context.limits.closing);
  }

  /**
   * Ends the socket with a reset (rule T10): the next write of the client fails, even if the client reads nothing. Output that the
   * client has not received is lost.
   */
  drop(): void {
    // After `end()` the client gets a FIN, and the system refuses a reset until it is sent.
    if (!this.socket.writableEnded && !this.tcp.destroyed) this.tcp.resetAndDestroy().destroy();
    this.socket.destroy();
  }

  /** See {@link drop}. */
  dropAfter(milliseconds: number): void {
    this.#later(milliseconds, () => this.drop());
  }

  gone(): void {
    this.#cancelTimer();
  }

  #relieve(): void {
    if (!this.isOverfull) return;
    this.isOverfull = false;
    this.isFlooded = false;
    this.pressure.relieved();
  }

  #later(milliseconds: number, act: () => void): void {
    this.#cancelTimer();
    if (!this.socket.destroyed) this.#cancelTimer = this.context.after(milliseconds, act);
  }
}
