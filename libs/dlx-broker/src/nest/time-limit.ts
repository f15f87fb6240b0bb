import type { Backend } from '../backend/index.js';

/** A handler took longer than its policy allows. It may still be at work: it is told by its context's `signal`. */
export class HandlerTimeoutError extends Error {
  override readonly name = 'HandlerTimeoutError';

  constructor(handler: string, milliseconds: number) {
    super(`${handler} took longer than ${milliseconds} ms`);
  }
}

/** Calls `expired` after so many milliseconds of the broker's time, unless it is called off before. @returns which does that */
export function timeLimit(clock: Backend['clock'], milliseconds: number, expired: () => void): () => void {
  const end = clock.now() + milliseconds;
  // A clock may ring early, for its timers end at 25 days: then it is asked again.
  const tick = (): void => (clock.now() >= end ? expired() : clock.wakeAt(end, tick));
  clock.wakeAt(end, tick);
  return () => clock.wakeAt(undefined, tick);
}
