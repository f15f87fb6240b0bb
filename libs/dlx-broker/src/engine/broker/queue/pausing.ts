import type { Pause } from '../declarations.js';
import { preconditionFailed } from '../errors.js';
import { Timer, type Timers } from '../scheduler/timers.js';

/** The longest pause with an end, in milliseconds: 365 days. */
export const maxPause = 365 * 24 * 60 * 60 * 1000;

/** The longest reason of a pause, in characters. */
export const maxReasonLength = 500;

/** How a queue is paused. */
export interface PauseRequest {
  /** Default: none. */
  readonly reason?: string | undefined;
  /** The pause ends by itself after this many milliseconds; default: it lasts until it is ended. */
  readonly for?: number | undefined;
  /** The user who asks; undefined is the host application. */
  readonly by?: string | undefined;
}

/** What a pause needs of its queue. */
interface PausedQueue {
  readonly name: string;
  readonly home: { readonly timers: Timers; resumeQueue(name: string): void };
  readonly consumers: { serve(isServed: boolean): void };
}

/**
 * The pause of a queue (section X): its consumers get nothing, as if all of them were full. So publishes cost the same with and
 * without a pause.
 */
export class Pausing {
  #state: Pause | undefined;
  /** Ends the pause; undefined until a pause with an end has begun. */
  #timer: Timer | undefined;

  constructor(
    readonly queue: PausedQueue,
    readonly lease: { hold(isHeld: boolean, now: number): void },
    readonly schedule: () => void,
  ) {}

  /** Undefined while the queue is not paused. */
  get state(): Pause | undefined {
    return this.#state;
  }

  /** Part of a command. A pause whose end has passed, after a late restart for example, ends when timers fire next. */
  begin(pause: Pause): void {
    const { queue } = this;
    this.#state = pause;
    queue.consumers.serve(false);
    this.lease.hold(true, pause.since); // rule X4
    this.stop();
    if (pause.until === undefined) return;
    this.#timer ??= new Timer(() => queue.home.resumeQueue(queue.name));
    queue.home.timers.set(this.#timer, pause.until);
  }

  /** Part of a command. */
  end(now: number): void {
    this.#state = undefined;
    this.stop();
    this.queue.consumers.serve(true);
    this.lease.hold(false, now);
    this.schedule();
  }

  /** The pause no longer ends by itself. */
  stop(): void {
    if (this.#timer !== undefined) this.queue.home.timers.unset(this.#timer);
  }
}

/** @param before the pause of a queue that is paused already @throws 406 when the time or the reason is out of range */
export function pauseOf({ reason = '', for: time, by }: PauseRequest, before: Pause | undefined, now: number): Pause {
  if (time !== undefined && !(time >= 1 && time <= maxPause)) {
    throw preconditionFailed(`invalid 'for' of a pause: ${time} milliseconds; it has to be 1 ms to 365 days`);
  }
  if (reason.length > maxReasonLength) {
    throw preconditionFailed(
      `invalid 'reason' of a pause: ${reason.length} characters, and at most ${maxReasonLength} are kept`,
    );
  }
  return { reason, by, since: before?.since ?? now, until: time === undefined ? undefined : now + time };
}
