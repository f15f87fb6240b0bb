import type { QueueSettings } from './arguments.js';
import type { Bounds } from './bounds.js';
import type { Contents } from './contents.js';
import type { Entry } from './entry.js';

/** Up to so many steps, the excess is dropped with the publish that causes it; more in turns. */
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

  /** A message was added. @returns whether others were dropped for it; more of them go in turns */
  fit(settings: QueueSettings, now: number): boolean {
    const steps = this.#drop(settings, now, droppedAtOnce);
    if (steps >= droppedAtOnce) {
      this.bounds.isShortening = this.bounds.isTooLong = true;
      this.schedule();
    }
    return steps > 0;
  }

  /** @param limit steps at most @returns steps taken; as many as the limit when there may be more to do */
  shorten(settings: QueueSettings, now: number, limit: number): number {
    const { bounds } = this;
    const steps = this.#drop(settings, now, limit);
    if (steps < limit) bounds.isShortening = bounds.isTooLong = false;
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
