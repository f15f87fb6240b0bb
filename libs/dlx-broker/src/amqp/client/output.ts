import { after } from '../../platform/index.js';
import type { FrameWriter } from '../wire/index.js';
import type { Runtime, Transport } from './transport.js';

/** The events of an output. */
export interface OutputEvents {
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
