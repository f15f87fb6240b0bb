import type { Pause } from '../declarations.js';
import { preconditionFailed } from '../errors.js';
import { Timer, type Timers } from '../scheduler/timers.js';

/** The longest pause with an end, in milliseconds: 365 days. */
export const longestPause = 365 * 24 * 60 * 60 * 1000;

/** The longest reason of a pause, in characters. */
export const longestReason = 500;

/** How a queue is paused. */
export interface PauseRequest {
  /** Default: none. */
  readonly reason?: string | undefined;
  /** The pause ends by itself after so many milliseconds; default: it lasts until it is ended. */
  readonly for?: number | undefined;
  /** The user who asks; undefined is the host application. */
  readonly by?: string | undefined;
}

/** The queue that is paused, as far as a pause is concerned. */
interface PausedQueue {
  readonly name: string;
  readonly home: { readonly timers: Timers; resumeQueue(name: string): void };
  readonly consumers: { serve(isServed: boolean): void };
}

/**
 * The pause of a queue (section X): its consumers get nothing. A paused queue is like one whose consumers are all full,
 * so that publishes cost the same with and without a pause.
 */
export class Pausing {
  #state: Pause | undefined;
  /** Ends the pause; undefined until a pause with an end begins. */
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

  /** Part of a command. A pause whose time is over, as one restored late, ends with the next timers. */
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
  if (time !== undefined && !(time >= 1 && time <= longestPause)) {
    throw preconditionFailed(`invalid 'for' of a pause: ${time} milliseconds; it has to be 1 ms to 365 days`);
  }
  if (reason.length > longestReason) {
    throw preconditionFailed(
      `invalid 'reason' of a pause: ${reason.length} characters, and at most ${longestReason} are kept`,
    );
  }
  return { reason, by, since: before?.since ?? now, until: time === undefined ? undefined : now + time };
}
