import { Histogram } from '../../engine/broker/index.js';
import type { Handler, PlannedHandler } from './handler.js';

/** Upper bounds of the durations of handlers, in seconds. */
const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The counts of a handler and a queue since they are measured. */
class HandlerCount {
  attempts = 0;
  retried = 0;
  parked = 0;
  rejected = 0;
  dropped = 0;
  held = 0;
  inFlight = 0;
  /** The seconds that attempts took. */
  readonly succeeded = new Histogram(durations);
  readonly failed = new Histogram(durations);

  constructor(
    /** Class and method. */
    readonly handler: string,
    readonly queue: string,
  ) {}
}

/** A run of a handler that has not ended. @param failed how it ended */
export type Ended = (failed: boolean) => void;

/** Measures the handlers of a broker. There is none while metrics are off: then no clock is read. */
export class HandlerMeter {
  readonly #counts = new Map<string, HandlerCount>();
  /** A new plan has new objects for the same handlers. */
  readonly #known = new WeakMap<PlannedHandler, HandlerCount>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(readonly now: () => number = () => performance.now()) {}

  get handlers(): Iterable<HandlerCount> {
    return this.#counts.values();
  }

  /** The counts of a handler, which are 0 when it is asked for the first time. */
  of(planned: PlannedHandler): HandlerCount {
    let count = this.#known.get(planned);
    if (count === undefined) this.#known.set(planned, (count = this.#make(planned.handler, planned.queue)));
    return count;
  }

  /** A run of a handler begins. @returns a function to call when the run has ended */
  begin(planned: PlannedHandler): Ended {
    const count = this.of(planned);
    count.attempts++;
    count.inFlight++;
    const began = this.now();
    return (failed) => {
      count.inFlight--;
      (failed ? count.failed : count.succeeded).record((this.now() - began) / 1000);
    };
  }

  #make({ origin }: Handler, queue: string): HandlerCount {
    const key = JSON.stringify([origin, queue]);
    let count = this.#counts.get(key);
    if (count === undefined) this.#counts.set(key, (count = new HandlerCount(origin, queue)));
    return count;
  }
}
