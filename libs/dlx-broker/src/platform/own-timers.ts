import type { Clock } from '../engine/broker/index.js';
import { after } from './timer.js';

/** A callback where there is nothing to do. */
export const doNothing = (): void => undefined;

/** Timers that are cancelled together when their owner closes, so that none of them keeps the process alive. */
export class OwnTimers {
  readonly #ends = new Set<() => void>();
  #isClosed = false;

  constructor(private readonly clock: Clock) {}

  /**
   * Calls `then` after this many milliseconds of the clock.
   * @param closed called instead of `then` by {@link close}, or at once after {@link close}. Default: nothing is called
   * @returns a function that cancels both
   */
  after(milliseconds: number, then: () => void, closed: () => void = doNothing): () => void {
    if (this.#isClosed) {
      closed();
      return doNothing;
    }
    const cancel = after(this.clock, milliseconds, () => {
      this.#ends.delete(end);
      then();
    });
    const end = (): void => {
      cancel();
      closed();
    };
    this.#ends.add(end);
    return () => {
      this.#ends.delete(end);
      cancel();
    };
  }

  /** Ends all timers. Later ones do not begin. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends) {
      this.#ends.delete(end);
      end();
    }
  }
}
