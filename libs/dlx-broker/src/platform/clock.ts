import { AsyncResource } from 'node:async_hooks';
import type { Clock } from '../engine/broker/index.js';
import { maxTimerDelay } from './max-timer-delay.js';

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
