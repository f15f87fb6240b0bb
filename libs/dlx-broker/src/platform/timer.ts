import type { Clock } from '../engine/broker/index.js';

/** Calls `then` after this many milliseconds of the broker's time. @returns a function that cancels the call */
export function after(clock: Clock, milliseconds: number, then: () => void): () => void {
  const end = clock.now() + milliseconds;
  // A clock may call early, because the timers of Node end at 25 days: then the timer is set again.
  const tick = (): void => (clock.now() >= end ? then() : clock.wakeAt(end, tick));
  clock.wakeAt(end, tick);
  return () => clock.wakeAt(undefined, tick);
}
