import type { Clock } from '../broker/index.js';
import { after } from './timer.js';

/** Timers that end together: a timer that waits for a function of the application must not keep a closing process alive. */
export class OwnTimers {
  readonly #ends = new Set<() => void>();
  #isClosed = false;

  constructor(private readonly clock: Clock) {}

  /**
   * Calls `then` after so many milliseconds of the clock.
   * @param closed called in its place by {@link close}, and at once if that was called before. Default: nothing is called
   * @returns a function that cancels both
   */
  after(milliseconds: number, then: () => void, closed: () => void = doNothing): () => void {
    if (this.#isClosed) {
      closed();
      return doNothing;
    }
    const callOff = after(this.clock, milliseconds, () => {
      this.#ends.delete(end);
      then();
    });
    const end = (): void => {
      callOff();
      closed();
    };
    this.#ends.add(end);
    return () => {
      this.#ends.delete(end);
      callOff();
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

const doNothing = (): void => undefined;
