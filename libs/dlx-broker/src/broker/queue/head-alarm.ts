import { Alarm, type Wakeups } from '../scheduler/timers.js';
import type { Ready } from './ready-list.js';

/** Wakes a queue when its next message expires: one alarm for the head, never one per message. */
export class HeadAlarm {
  readonly #alarm: Alarm;

  constructor(
    readonly wakeups: Wakeups,
    public ready: Ready,
    ring: () => void,
  ) {
    this.#alarm = new Alarm(ring);
  }

  /** An alarm that rings too early just looks again. */
  arm(): void {
    const { deadline } = this.ready;
    if (deadline === 0) return;
    if (!this.#alarm.isSet || this.#alarm.time > deadline) this.wakeups.set(this.#alarm, deadline);
  }

  /** Minds another list from now on. */
  watch(ready: Ready): Ready {
    this.stop();
    return (this.ready = ready);
  }

  stop(): void {
    this.wakeups.unset(this.#alarm);
  }
}
