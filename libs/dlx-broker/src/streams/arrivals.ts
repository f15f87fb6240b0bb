import { after } from '../host/index.js';
import { type Backend } from '../backend/index.js';

/** After its end a redrive still sees what comes back, in milliseconds: for how long, and how often it looks. */
const afterwards = { watched: 60_000, every: 1_000 };

interface Emptied {
  /** Letters that lay there at first. */
  readonly length: number;
  redriven: number;
}

/** Counts the letters that arrive in the queues of a redrive while it empties them, and for a while after that. */
export class Arrivals {
  readonly #queues = new Map<string, Emptied>();
  #callOff: (() => void) | undefined;
  #until: number | undefined;
  #closed = false;
  /** So many so far. */
  count = 0;

  constructor(readonly backend: Backend) {}

  add(queue: string, length: number): void {
    this.#queues.set(queue, { length, redriven: 0 });
  }

  redriven(queue: string): void {
    const emptied = this.#queues.get(queue);
    if (emptied !== undefined) emptied.redriven++;
  }

  /** Up to when it looks; undefined before the end of the redrive. */
  get until(): Date | undefined {
    return this.#until === undefined ? undefined : new Date(this.#until);
  }

  /** How many there are by now. What other consumers take is not missed: the number never falls. */
  async look(): Promise<number> {
    let count = 0;
    for (const [queue, { length, redriven }] of this.#queues) {
      const status = await this.backend.status(queue);
      if (status !== undefined) count += Math.max(0, status.messages + status.unacknowledged + redriven - length);
    }
    return (this.count = Math.max(this.count, count));
  }

  /** From now on looks by itself, for a minute. @param seen hears of a higher number */
  watch(seen: (count: number) => void): void {
    const { clock } = this.backend;
    if (this.#closed || this.#until !== undefined) return;
    this.#until = clock.now() + afterwards.watched;
    const next = (): void => {
      const left = (this.#until ?? 0) - clock.now();
      if (left > 0 && !this.#closed) this.#callOff = after(clock, Math.min(afterwards.every, left), look);
    };
    const look = (): void => {
      const before = this.count;
      this.look().then(
        (count) => {
          if (this.#closed) return;
          if (count > before) seen(count);
          next();
        },
        () => this.close(), // the connection is gone, and with it what could be seen
      );
    };
    next();
  }

  /** Ends it. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#callOff?.();
    if (this.#until !== undefined) this.#until = Math.min(this.#until, this.backend.clock.now());
  }
}
