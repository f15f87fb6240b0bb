import type { QueueSettings } from './arguments.js';
import { type Bounds, Excess } from './bounds.js';
import type { Contents } from './contents.js';
import type { Entry } from './entry.js';

/** Steps of dropping that are taken with the publish that causes the excess; more are taken in turns. */
const droppedAtOnce = 256;

/** To drop a message is less work than to dead-letter it: so many drops are one step of the scheduler. */
const droppedInStep = 16;

/** Drops messages from the head of a queue until it is within its limits (rules C1, C3, C14). */
export class HeadDropping {
  constructor(
    readonly bounds: Bounds,
    readonly contents: Contents,
    readonly drop: (entry: Entry, now: number) => void,
    /** Asks for a call of {@link shorten}. */
    readonly schedule: () => void,
  ) {}

  /** Drops messages after one was added; very many are dropped in turns. @returns whether any were dropped */
  fit(settings: QueueSettings, now: number): boolean {
    const steps = this.#drop(settings, now, droppedAtOnce);
    if (steps >= droppedAtOnce) {
      this.bounds.excess = Excess.OfPublish;
      this.schedule();
    }
    return steps > 0;
  }

  /** @param limit steps at most @returns steps taken; as many as the limit when there may be more to do */
  shorten(settings: QueueSettings, now: number, limit: number): number {
    const { bounds } = this;
    const steps = this.#drop(settings, now, limit);
    if (steps < limit) bounds.excess = Excess.None;
    return steps;
  }

  #drop(settings: QueueSettings, now: number, limit: number): number {
    if (!this.bounds.dropsHead) return 0;
    const { contents } = this;
    const inStep = settings.deadLetterExchange === undefined ? droppedInStep : 1;
    const most = limit * inStep;
    let count = 0;
    for (; count < most && contents.exceed(settings); count++) this.drop(contents.ready.shift() as Entry, now);
    return Math.ceil(count / inStep);
  }
}
