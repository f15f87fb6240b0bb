/** What a listener needs from its process. Simulations replace it. */
export interface Runtime {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Calls back in a later turn of the event loop, after the input of this turn was handled. */
  later(act: () => void): void;
  /**
   * Calls back once after this many milliseconds. The timer does not keep the process alive.
   * @returns cancels the call
   */
  after(milliseconds: number, act: () => void): () => void;
}

/** The event loop and the timers of this process. */
export const processRuntime: Runtime = {
  now: () => performance.now(),
  later: (act) => void setImmediate(act),
  after: (milliseconds, act) => {
    const timer = setTimeout(act, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};
