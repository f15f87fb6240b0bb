import { Alarm, type Wakeups } from '../scheduler/timers.js';

/** How long a queue may stay unused (rule B12): any use starts the time anew, a consumer stops it. */
export class Lease {
  #alarm: Alarm | undefined;
  #lastUse = 0;

  constructor(
    readonly wakeups: Wakeups,
    /** The time to live in milliseconds, undefined while there is none or a consumer is there. */
    readonly timeToLive: () => number | undefined,
    readonly ended: () => void,
  ) {}

  touch(now: number): void {
    const timeToLive = this.timeToLive();
    this.#lastUse = now;
    if (timeToLive === undefined) return;
    this.#alarm ??= new Alarm((rung) => this.#look(rung));
    if (!this.#alarm.isSet) this.wakeups.set(this.#alarm, now + timeToLive);
  }

  stop(): void {
    if (this.#alarm !== undefined) this.wakeups.unset(this.#alarm);
  }

  /** It may have been used since the alarm was set: then it is set again. */
  #look(now: number): void {
    const timeToLive = this.timeToLive();
    if (timeToLive === undefined) return;
    const due = this.#lastUse + timeToLive;
    if (due > now) this.wakeups.set(this.#alarm as Alarm, due);
    else this.ended();
  }
}
