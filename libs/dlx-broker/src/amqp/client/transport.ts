import type { Clock } from '../../engine/broker/index.js';
import { after } from '../../platform/index.js';
import type { FrameWriter } from '../wire/index.js';

/**
 * A stream of bytes to a server and back: a TCP or TLS socket (`dial`), or in tests and simulations a replacement that
 * reaches a listener. It emits no event during a call of one of its methods.
 */
export interface Transport {
  /** Bytes that were written and not yet taken by the other side or the system. */
  readonly waiting: number;
  /** Sets the listener. Called once, before all other methods. */
  attach(events: TransportEvents): void;
  /**
   * Sends bytes in order.
   * @param done called once when the caller may overwrite the bytes. Without it the caller never overwrites them
   */
  write(bytes: Uint8Array, done?: () => void): void;
  /** Sends the written bytes now. Called once at the end of each turn with output. */
  flush(): void;
  /** Ends the output. Written bytes are still sent. */
  end(): void;
  /** Ends both directions at once; `closed` follows. */
  destroy(): void;
}

/** The events of a transport. */
export interface TransportEvents {
  /** Bytes came. They are valid until the call returns, because the next read may overwrite them. */
  received(bytes: Buffer): void;
  /** All written bytes were sent. Called only after {@link Transport.waiting} was above 0. */
  drained(): void;
  /** Both directions are closed. Called once, as the last event. @param failure the error of the system, if any */
  closed(failure?: Error): void;
}

/** What a connection needs from its process. Simulations replace it. */
export interface Runtime {
  readonly clock: Clock;
  /** Calls back after this turn, when received input was read: `setImmediate` in a real process. */
  later(act: () => void): void;
}

/** The reason why a transport could not connect, for {@link TransportEvents.closed}. */
export class DialError extends Error {
  override readonly name = 'DialError';

  constructor(
    readonly phase: 'connect' | 'tls',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The events of an output. */
interface OutputEvents {
  /** Bytes went to the transport. */
  sent(): void;
  drained(): void;
}

/** The output of a connection. It collects the bytes of a turn, writes them at the end of the turn, and counts unsent bytes. */
export class Output {
  /** Set before the first frame. */
  writer!: FrameWriter;
  readonly #transport: Transport;
  readonly #runtime: Runtime;
  readonly #most: number;
  readonly #events: OutputEvents;
  #isCongested = false;
  #isOver = false;
  #isGone = false;
  #isFlushDue = false;
  /** Called at the end of this turn. */
  #last: (() => void)[] = [];
  #cancel: (() => void) | undefined;

  /** @param most the high-water mark: bytes that may wait before the connection is congested */
  constructor(transport: Transport, runtime: Runtime, most: number, events: OutputEvents) {
    this.#transport = transport;
    this.#runtime = runtime;
    this.#most = Math.max(most, leastHighWaterMark);
    this.#events = events;
  }

  get waiting(): number {
    return this.writer.pending + this.#transport.waiting;
  }

  /** True when too much waits, and from then on until `drained` was reported. */
  get isCongested(): boolean {
    return (this.#isCongested ||= this.waiting > this.#most);
  }

  /** The first bytes of a turn were written, or something asks for the end of the turn. */
  readonly want = (): void => {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    this.#runtime.later(this.#flush);
  };

  /** See {@link AmqpConnection.atEndOfTurn}. */
  atEndOfTurn(act: () => void): void {
    this.#last.push(act);
    this.want();
  }

  /** Calls those that wait for the end of this turn. */
  endTurn(): void {
    if (this.#last.length === 0) return;
    const last = this.#last;
    this.#last = [];
    for (const act of last) act();
  }

  /** Ends the congestion if few bytes wait. */
  relieve(): void {
    if (!this.#isCongested || this.#isOver || this.waiting * 2 > this.#most) return;
    this.#isCongested = false;
    this.#events.drained();
  }

  /** Sends the remaining bytes, and ends. @param limit milliseconds after which the socket is destroyed */
  end(limit: number): void {
    this.#flush();
    this.#isOver = true;
    if (this.#isGone) return;
    this.#transport.end();
    this.#cancel = after(this.#runtime.clock, limit, () => this.#transport.destroy());
  }

  /** The transport is closed. */
  gone(): void {
    this.#isGone = true;
    this.#cancel?.();
  }

  readonly #flush = (): void => {
    try {
      this.endTurn();
    } finally {
      // Only now, so that the bytes of these acts ask for no further flush.
      this.#isFlushDue = false;
    }
    if (this.#last.length > 0) this.want();
    if (this.#isOver || this.writer.pending === 0) return;
    this.writer.flush();
    this.#transport.flush();
    this.#events.sent();
    this.relieve();
  };
}

/** The smallest useful high-water mark, in bytes. With fewer buffered bytes a socket emits no `drain`. */
const leastHighWaterMark = 65_536;

/** The actions of a heartbeat. */
interface HeartbeatHost {
  /** Sends a heartbeat frame. */
  beat(): void;
  /** Nothing came for two intervals. */
  dead(): void;
}

/** Sends a heartbeat after half an interval without output, and detects a server that sends nothing for two intervals. */
export class Heartbeat {
  readonly #runtime: Runtime;
  readonly #interval: number;
  readonly #host: HeartbeatHost;
  #heardAt: number;
  #sentAt: number;
  #isOver = false;

  /** @param seconds the agreed interval, not 0 */
  constructor(runtime: Runtime, seconds: number, host: HeartbeatHost) {
    this.#runtime = runtime;
    this.#interval = seconds * 1000;
    this.#host = host;
    this.#heardAt = this.#sentAt = runtime.clock.now();
    this.#wake();
  }

  heard(): void {
    this.#heardAt = this.#runtime.clock.now();
  }

  sent(): void {
    this.#sentAt = this.#runtime.clock.now();
  }

  stop(): void {
    this.#isOver = true;
    this.#runtime.clock.wakeAt(undefined, this.#tick);
  }

  readonly #tick = (): void => {
    const { clock, later } = this.#runtime;
    const now = clock.now();
    // A process that was suspended or busy first reads the bytes that have arrived meanwhile.
    if (this.#isSilent(now)) return later(this.#judge);
    if (now - this.#sentAt >= this.#interval / 2) {
      this.#sentAt = now;
      this.#host.beat();
    }
    this.#wake();
  };

  readonly #judge = (): void => {
    if (this.#isOver) return;
    if (this.#isSilent(this.#runtime.clock.now())) this.#host.dead();
    else this.#wake();
  };

  #isSilent(now: number): boolean {
    return now - this.#heardAt >= this.#interval * 2;
  }

  #wake(): void {
    const next = Math.min(this.#sentAt + this.#interval / 2, this.#heardAt + this.#interval * 2);
    this.#runtime.clock.wakeAt(next, this.#tick);
  }
}
