import type { Clock } from '../../engine/broker/ports.js';
import { parseDuration } from '../../platform/options/units.js';

/** Where a manual clock starts by default: noon, on the first of January 2026, UTC. */
export const startOfTime = Date.UTC(2026, 0, 1, 12);

/** The most ticks at one instant. Beyond it the clock throws, because a caller requests the present time in an endless loop. */
const ticksAtOneInstant = 1_000_000;

interface Request {
  readonly tick: () => void;
  readonly time: number;
  readonly order: number;
}

/**
 * A clock that a test moves. It stops at every wake-up on the way: the earliest first, at equal times in the order of the requests.
 * Wake-ups that a tick requests, even for the same instant, are run on the way as well.
 */
export class ManualClock implements Clock {
  #now: number;
  #requests = new Map<() => void, Request>();
  #order = 0;
  #moving = false;

  /** @param start the instant it shows at first: a Date, or milliseconds since 1970 */
  constructor(start: Date | number = startOfTime) {
    this.#now = Number(start);
    if (!Number.isFinite(this.#now)) throw new RangeError('a manual clock starts at a valid instant');
  }

  now(): number {
    return this.#now;
  }

  wakeAt(time: number | undefined, tick: () => void): void {
    if (time === undefined) this.#requests.delete(tick);
    else this.#requests.set(tick, { tick, time, order: this.#order++ });
  }

  /** When the next wake-up is due (possibly in the past: then at the next move); undefined when none was requested. */
  nextWakeUp(): number | undefined {
    return this.#next()?.time;
  }

  /**
   * Moves on by a duration, running every wake-up on the way; `advance(0)` runs what is due now.
   * @param duration milliseconds, or a string such as `'30s'`
   */
  advance(duration: number | string): void {
    this.advanceTo(this.#now + parseDuration(duration, 'ManualClock.advance'));
  }

  /** Moves on to an instant (a Date, or milliseconds since 1970), running every wake-up on the way. */
  advanceTo(instant: Date | number): void {
    let atThisInstant = 0;
    let last = this.#now;
    while (this.step(instant)) {
      atThisInstant = this.#now === last ? atThisInstant + 1 : 1;
      last = this.#now;
      if (atThisInstant > ticksAtOneInstant) throw new Error('a tick asks for a wake-up at the present time for ever');
    }
  }

  /**
   * Runs the next single wake-up if it is due by `until`, moving to its time; otherwise moves to `until`.
   * @returns whether a tick ran, so there may be more
   */
  step(until: Date | number): boolean {
    const end = Number(until);
    // Also true for NaN: an invalid instant must not become the time.
    if (!(end >= this.#now)) throw new RangeError('time only moves forward');
    if (this.#moving) throw new Error('the clock is moving already: a tick must not move it');
    const next = this.#next();
    if (next === undefined || next.time > end) {
      this.#now = end;
      return false;
    }
    this.#now = Math.max(this.#now, next.time);
    this.#requests.delete(next.tick);
    this.#moving = true;
    try {
      next.tick();
    } finally {
      this.#moving = false;
    }
    return true;
  }

  #next(): Request | undefined {
    let next: Request | undefined;
    for (const request of this.#requests.values()) {
      if (next === undefined || this.#time(request) < this.#time(next)) next = request;
      else if (this.#time(request) === this.#time(next) && request.order < next.order) next = request;
    }
    return next;
  }

  /** The time of a request; a past time counts as now. */
  #time(request: Request): number {
    return Math.max(this.#now, request.time);
  }
}
