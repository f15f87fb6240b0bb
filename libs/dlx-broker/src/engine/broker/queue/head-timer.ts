import { Timer, type Timers } from '../scheduler/timers.js';
import type { Ready } from './ready-list.js';

/** The most messages at the head that expire in the command that finds them; the rest expires in turns. */
export const expiredPerCommand = 256;

/** Wakes a queue when its next message expires: one timer for the head, never one per message. */
export class HeadTimer {
  readonly #timer: Timer;

  constructor(
    readonly timers: Timers,
    public ready: Ready,
    fire: () => void,
  ) {
    this.#timer = new Timer(fire);
  }

  /** Sets the timer for the head. A timer that fires too early only sets itself again. */
  arm(): void {
    const { deadline } = this.ready;
    if (deadline === 0) return;
    if (!this.#timer.isSet || this.#timer.time > deadline) this.timers.set(this.#timer, deadline);
  }

  /** Watches another list from now on. */
  watch(ready: Ready): Ready {
    this.stop();
    return (this.ready = ready);
  }

  stop(): void {
    this.timers.unset(this.#timer);
  }
}
