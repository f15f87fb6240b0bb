import type { Clock } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { World } from './world.js';

/** The clock and the event loop of one simulated process. When the process is killed, none of its callbacks is called any more. */
export class Life implements Clock {
  isOver = false;
  /** What keeps the process alive besides its timers. */
  reasonsToStay = 0;
  readonly #timers = new Map<() => void, () => void>();

  constructor(private readonly world: World) {}

  /** Timers that were asked for and have not fired. */
  get timers(): number {
    return this.#timers.size;
  }

  readonly now = (): number => this.world.clock.now();

  wakeAt(time: number | undefined, tick: () => void): void {
    if (this.isOver) return;
    let timer = this.#timers.get(tick);
    if (time === undefined) {
      if (timer === undefined) return;
      this.#timers.delete(tick);
      return this.world.clock.wakeAt(undefined, timer);
    }
    if (timer === undefined) {
      timer = (): void => {
        this.#timers.delete(tick);
        tick();
      };
      this.#timers.set(tick, timer);
    }
    this.world.clock.wakeAt(time, timer);
  }

  /** @returns cancels */
  readonly after = (milliseconds: number, act: () => void): (() => void) => {
    const tick = (): void => act();
    this.wakeAt(this.now() + milliseconds, tick);
    return () => this.wakeAt(undefined, tick);
  };

  readonly later = (act: () => void): void => {
    this.world.turns.later(() => {
      if (!this.isOver) act();
    });
  };

  readonly keepAlive = (): (() => void) => {
    this.reasonsToStay++;
    return () => void this.reasonsToStay--;
  };

  /** The process is gone. */
  end(): void {
    this.isOver = true;
    for (const timer of this.#timers.values()) this.world.clock.wakeAt(undefined, timer);
    this.#timers.clear();
  }
}
