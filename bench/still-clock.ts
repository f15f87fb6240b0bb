/** Time that stands still until it is moved. */
export class StillClock {
  time = 1_700_000_000_000;
  #due: number | undefined;
  #tick: () => void = () => {};

  now(): number {
    return this.time;
  }

  wakeAt(due: number | undefined, tick: () => void): void {
    this.#due = due;
    this.#tick = tick;
  }

  /** Moves to a time and does there all that is due until then, so that all deadlines are one instant. */
  moveTo(time: number): void {
    this.time = time;
    while (this.#due !== undefined && this.#due <= time) {
      this.#due = undefined;
      this.#tick();
    }
  }

  /** Moves on to what is due next, and does it. @returns false when nothing is */
  step(): boolean {
    if (this.#due === undefined) return false;
    this.moveTo(this.#due);
    return true;
  }
}
