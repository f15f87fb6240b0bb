import { after } from '../../../host/index.js';
import type { FrameWriter } from '../../../wire/index.js';
import type { Surroundings, Transport } from './transport.js';

/** What an output reports. */
export interface OutputEvents {
  /** Bytes went to the transport. */
  sent(): void;
  drained(): void;
}

/** What leaves a connection: gathered in a turn, written at its end, and counted while it waits. */
export class Output {
  /** Set before the first frame. */
  writer!: FrameWriter;
  readonly #transport: Transport;
  readonly #surroundings: Surroundings;
  readonly #most: number;
  readonly #events: OutputEvents;
  #isCongested = false;
  #isOver = false;
  #isGone = false;
  #cancel: (() => void) | undefined;

  /** @param most bytes that may wait */
  constructor(transport: Transport, surroundings: Surroundings, most: number, events: OutputEvents) {
    this.#transport = transport;
    this.#surroundings = surroundings;
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

  /** The first bytes of a turn were written. */
  readonly want = (): void => this.#surroundings.later(this.#flush);

  /** Little waits, perhaps. */
  relieve(): void {
    if (!this.#isCongested || this.#isOver || this.waiting * 2 > this.#most) return;
    this.#isCongested = false;
    this.#events.drained();
  }

  /** Sends what is left and ends. @param limit milliseconds until both directions are closed by force */
  end(limit: number): void {
    this.#flush();
    this.#isOver = true;
    if (this.#isGone) return;
    this.#transport.end();
    this.#cancel = after(this.#surroundings.clock, limit, () => this.#transport.destroy());
  }

  /** The transport is closed. */
  gone(): void {
    this.#isGone = true;
    this.#cancel?.();
  }

  readonly #flush = (): void => {
    if (this.#isOver || this.writer.pending === 0) return;
    this.writer.flush();
    this.#transport.flush();
    this.#events.sent();
    this.relieve();
  };
}

/** Below it a socket does not say that its buffer is empty again. In bytes. */
const leastHighWaterMark = 65_536;
