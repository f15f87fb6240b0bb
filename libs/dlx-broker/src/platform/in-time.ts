import type { Clock } from '../engine/broker/index.js';
import { after } from './timer.js';

/** How long a promise may take. */
export interface Patience {
  readonly clock: Clock;
  readonly milliseconds: number;
}

/**
 * The result of a promise, if it comes in time.
 * @param late the message of the error of a promise that takes too long
 * @param waits gets the function that stops the timer
 */
export function inTime<T>(
  given: PromiseLike<T>,
  { clock, milliseconds }: Patience,
  late: string,
  waits?: (cancel: () => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = after(clock, milliseconds, () => reject(new Error(late)));
    waits?.(cancel);
    void Promise.resolve(given).then(resolve, reject).finally(cancel);
  });
}
