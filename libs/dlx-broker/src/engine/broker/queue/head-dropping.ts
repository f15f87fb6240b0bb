import type { QueueSettings } from './arguments.js';
import { type Bounds, Excess } from './bounds.js';
import type { Contents } from './contents.js';
import type { Entry } from './entry.js';

/** The most steps of dropping in the command whose publish causes the excess; the rest follows in turns. */
const droppedPerCommand = 256;

/** Drops that count as one step of the scheduler, because a drop is less work than a dead letter. */
const dropsPerStep = 16;

/** Drops messages from the head of a queue until it is within its limits (rules C1, C3, C14). */
export class HeadDropping {
  constructor(
    readonly bounds: Bounds,
    readonly contents: Contents,
    readonly drop: (entry: Entry, now: number) => void,
    /** Asks for a call of {@link shorten}. */
    readonly schedule: () => void,
  ) {}

  /** Drops messages after a message was added; very many are dropped in turns. @returns whether any were dropped */
  fit(settings: QueueSettings, now: number): boolean {
    const steps = this.#drop(settings, now, droppedPerCommand);
    if (steps >= droppedPerCommand) {
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
    const inStep = settings.deadLetterExchange === undefined ? dropsPerStep : 1;
    const most = limit * inStep;
    let count = 0;
    for (; count < most && contents.exceed(settings); count++) this.drop(contents.ready.shift() as Entry, now);
    return Math.ceil(count / inStep);
  }
}
