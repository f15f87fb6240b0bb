import { AsyncResource } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { markAsUntransferable } from 'node:worker_threads';
import type { Clock, Names, Pace } from '../engine/broker/index.js';
import { protectPages } from '../engine/message/index.js';

protectPages(markAsUntransferable);

/** The longest delay of Node's timers, in milliseconds. Node takes a longer delay for 1 ms. */
export const maxTimerDelay = 2_147_483_647;

/**
 * The async context in which this object was created. AsyncLocalStorage follows calls, and an embedded broker delivers in the
 * call stack of a publish, of an ack or of a timer. Without this context a handler would see the AsyncLocalStorage of
 * another request, and a timer would keep it in memory.
 */
export class HomeContext extends AsyncResource {
  /** Copies of this context for the next messages. */
  readonly #copies: AsyncResource[] = [];

  constructor() {
    super('DlxHome');
  }

  /**
   * Runs a function in a new async context, a copy of this one. A call of `enterWith` inside has no effect outside. Errors
   * are thrown to the caller.
   * @param run gets the argument, and the new context, in which later calls can be made
   * @param self the function's `this`
   */
  fresh<This, Argument>(run: Fresh<This, Argument>, self: This, argument: Argument): void {
    // Copies are made inside this context: Node 20 copies the context in which a resource is created. No code of an
    // application changes this context, so copies can be made in advance: entering it costs as much as several copies.
    const copy = this.#copies.pop() ?? this.runInAsyncScope(makeCopies, undefined, this.#copies);
    copy.runInAsyncScope(run, self, argument, copy);
  }
}

/** The number of copies that are made together. */
const copiesAtOnce = 16;

type Fresh<This, Argument> = (this: This, argument: Argument, copy: AsyncResource) => void;

/** Makes copies of the present context. @param copies gets all copies but one @returns the last copy */
function makeCopies(copies: AsyncResource[]): AsyncResource {
  for (let left = copiesAtOnce - 1; left > 0; left--) copies.push(new AsyncResource('DlxMessage'));
  return new AsyncResource('DlxMessage');
}

/** When this process began, in milliseconds since 1970. Read once, because Node computes the property at each access. */
const { timeOrigin } = performance;

/**
 * The clock of a real broker: wall-clock time at the start, monotonic from then on. A change of the system clock moves no
 * deadline.
 */
export class SystemClock implements Clock {
  readonly #timers = new Map<() => void, NodeJS.Timeout>();
  /** Timers are set in this context. Otherwise the timer of a waiting message would keep the async context of its publisher alive. */
  readonly #home = new HomeContext();

  now(): number {
    return Math.floor(timeOrigin + performance.now());
  }

  wakeAt(time: number | undefined, tick: () => void): void {
    clearTimeout(this.#timers.get(tick));
    this.#timers.delete(tick);
    if (time === undefined) return;
    const delay = Math.min(Math.max(Math.ceil(time - timeOrigin - performance.now()), 0), maxTimerDelay);
    const fire = (): void => {
      this.#timers.delete(tick);
      tick(); // too early if the delay is above maxTimerDelay: the broker then asks again
    };
    this.#timers.set(tick, this.#home.runInAsyncScope(startTimer, undefined, fire, delay));
  }
}

const startTimer = (fire: () => void, delay: number): NodeJS.Timeout => setTimeout(fire, delay);

/** Calls `then` after this many milliseconds of the broker's time. @returns a function that cancels the call */
export function after(clock: Clock, milliseconds: number, then: () => void): () => void {
  const end = clock.now() + milliseconds;
  // A clock may call early, because the timers of Node end at 25 days: then the timer is set again.
  const tick = (): void => (clock.now() >= end ? then() : clock.wakeAt(end, tick));
  clock.wakeAt(end, tick);
  return () => clock.wakeAt(undefined, tick);
}

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

/** Keeps this process alive. @returns a function that stops keeping it alive */
export function keepAlive(): () => void {
  const timer = setInterval(() => {}, maxTimerDelay);
  return () => clearInterval(timer);
}

/** The milliseconds between two measurements. */
const resolution = 20;

/** Not imported by name, because the types of Node 26 have another name for it than those of Node 20. */
type IntervalHistogram = ReturnType<typeof monitorEventLoopDelay>;

/** Measures the intervals between the calls of a timer from now on, in nanoseconds. See {@link loopDelayOf}. */
export function measureLoop(): IntervalHistogram {
  const intervals = monitorEventLoopDelay({ resolution });
  intervals.enable();
  return intervals;
}

/**
 * How late the event loop was.
 * @param interval nanoseconds, as {@link measureLoop} measures them; the resolution if the event loop is on time
 * @returns milliseconds; 0 if the event loop is on time, or nothing was measured
 */
export const loopDelayOf = (interval: number): number => Math.max(0, interval / 1e6 - resolution);

/** Yields to the event loop after 500 steps. A step takes up to five microseconds (bench/event-loop.ts). */
export const turnPace: Pace = { budget: 500, later: (resume) => setImmediate(resume) };

/** Random names of 128 bits, which cannot be guessed. */
export const randomNames: Names = { token: () => randomBytes(16).toString('base64url') };
