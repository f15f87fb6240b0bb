import type { Runtime } from './transport.js';

/** The actions of a heartbeat. */
export interface HeartbeatHost {
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
