/** A clock that stands still until it is moved. */
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

  /** Moves to a time, and then does everything that is due until then, as if all deadlines were this one instant. */
  moveTo(time: number): void {
    this.time = time;
    while (this.#due !== undefined && this.#due <= time) {
      this.#due = undefined;
      this.#tick();
    }
  }

  /** Moves to the next deadline, and does what is due. @returns false when there is no deadline */
  step(): boolean {
    if (this.#due === undefined) return false;
    this.moveTo(this.#due);
    return true;
  }
}
