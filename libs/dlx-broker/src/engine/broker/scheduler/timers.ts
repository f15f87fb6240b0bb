/** Calls a function at a time. A timer fires once for each time it was set. */
export class Timer {
  /** Its place in the heap, -1 while it is not set. Only {@link Timers} writes it. */
  slot = -1;
  /** When it fires, in milliseconds since 1970. Only {@link Timers} writes it. */
  time = 0;

  constructor(readonly fire: (now: number) => void) {}

  get isSet(): boolean {
    return this.slot >= 0;
  }
}

/** All timers of a broker, the next one first: a binary heap, since the clock takes one request at a time. */
export class Timers {
  readonly #heap: Timer[] = [];

  /** The time of the next timer. */
  get next(): number | undefined {
    return this.#heap[0]?.time;
  }

  set(timer: Timer, time: number): void {
    if (timer.slot >= 0) {
      const earlier = time < timer.time;
      timer.time = time;
      if (earlier) this.#up(timer, timer.slot);
      else this.#down(timer, timer.slot);
      return;
    }
    timer.time = time;
    this.#heap.push(timer);
    this.#up(timer, this.#heap.length - 1);
  }

  unset(timer: Timer): void {
    const slot = timer.slot;
    if (slot < 0) return;
    timer.slot = -1;
    const last = this.#heap.pop() as Timer;
    if (last === timer) return;
    if (last.time < timer.time) this.#up(last, slot);
    else this.#down(last, slot);
  }

  /** Fires the next one. @returns false when none is due */
  fireNext(now: number): boolean {
    const timer = this.#heap[0];
    if (timer === undefined || timer.time > now) return false;
    this.unset(timer);
    timer.fire(now);
    return true;
  }

  #up(timer: Timer, from: number): void {
    let slot = from;
    while (slot > 0) {
      const parentSlot = (slot - 1) >> 1;
      const parent = this.#heap[parentSlot] as Timer;
      if (parent.time <= timer.time) break;
      this.#place(parent, slot);
      slot = parentSlot;
    }
    this.#place(timer, slot);
  }

  #down(timer: Timer, from: number): void {
    let slot = from;
    for (;;) {
      let childSlot = slot * 2 + 1;
      if (childSlot >= this.#heap.length) break;
      const right = this.#heap[childSlot + 1];
      if (right !== undefined && right.time < (this.#heap[childSlot] as Timer).time) childSlot++;
      const child = this.#heap[childSlot] as Timer;
      if (child.time >= timer.time) break;
      this.#place(child, slot);
      slot = childSlot;
    }
    this.#place(timer, slot);
  }

  #place(timer: Timer, slot: number): void {
    this.#heap[slot] = timer;
    timer.slot = slot;
  }
}
