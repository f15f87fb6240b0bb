import { Observable } from 'rxjs';
import { after } from '../../platform/index.js';
import { type Backend } from '../../backends/index.js';

/** Emits once, at a time of the broker's clock; at once if that time is past. @param time milliseconds since 1970 */
export const clockTimer = (clock: Backend['clock'], time: number): Observable<void> =>
  new Observable((subscriber) => {
    const ring = (): void => {
      subscriber.next();
      subscriber.complete();
    };
    const wait = Math.ceil(time - clock.now());
    if (wait > 0) return after(clock, wait, ring);
    return ring();
  });
