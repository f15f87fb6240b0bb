import { Histogram } from '../../engine/broker/index.js';
import type { HandlerNumbers } from '../../server/metrics/index.js';
import type { Settled } from './feature.js';
import type { PlannedHandler, Taken } from './handler.js';

/** Upper bounds of the durations of handlers, in seconds. */
const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The numbers of a handler and a queue since they are measured. */
class Numbers implements HandlerNumbers {
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

const measured = ['retried', 'parked', 'rejected', 'dropped', 'held'] as const;

/** A run of a handler that has not ended. @param failed how it ended */
export type Ended = (failed: boolean) => void;

/** Measures the handlers of a broker. There is none while metrics are off: then no clock is read. */
export class HandlerMeter {
  readonly #counts = new Map<string, Numbers>();
  /** A new plan has new objects for the same handlers. */
  readonly #known = new WeakMap<PlannedHandler, Numbers>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(readonly now: () => number = () => performance.now()) {}

  get handlers(): Iterable<HandlerNumbers> {
    return this.#counts.values();
  }

  /** The numbers of a handler, which are 0 when they are asked for the first time. */
  of(planned: PlannedHandler): Numbers {
    const known = this.#known.get(planned);
    if (known !== undefined) return known;
    const { handler, queue } = planned;
    const key = JSON.stringify([handler.origin, queue]);
    const numbers = this.#counts.get(key) ?? new Numbers(handler.origin, queue);
    this.#counts.set(key, numbers);
    this.#known.set(planned, numbers);
    return numbers;
  }

  /** Counts an outcome. A message that is rejected because no handler could get it is not one of the handler. */
  settled({ planned, isUnhandled }: Taken, { kind }: Settled): void {
    const name = measured.find((each) => each === kind);
    if (name !== undefined && !(isUnhandled === true && name === 'rejected')) this.of(planned)[name]++;
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
}
