/** Something to be woken at a time. One alarm rings once for each time it was set. */
export class Alarm {
  /** Its place in the heap, -1 while it is not set. Only {@link Wakeups} writes it. */
  slot = -1;
  /** When it rings, in milliseconds since 1970. Only {@link Wakeups} writes it. */
  time = 0;

  constructor(readonly ring: (now: number) => void) {}

  get isSet(): boolean {
    return this.slot >= 0;
  }
}

/** All alarms of a broker, the next one first: a binary heap, for the clock takes one request at a time. */
export class Wakeups {
  readonly #heap: Alarm[] = [];

  /** The time of the next alarm. */
  get next(): number | undefined {
    return this.#heap[0]?.time;
  }

  set(alarm: Alarm, time: number): void {
    if (alarm.slot >= 0) {
      const earlier = time < alarm.time;
      alarm.time = time;
      if (earlier) this.#up(alarm, alarm.slot);
      else this.#down(alarm, alarm.slot);
      return;
    }
    alarm.time = time;
    this.#heap.push(alarm);
    this.#up(alarm, this.#heap.length - 1);
  }

  unset(alarm: Alarm): void {
    const slot = alarm.slot;
    if (slot < 0) return;
    alarm.slot = -1;
    const last = this.#heap.pop() as Alarm;
    if (last === alarm) return;
    if (last.time < alarm.time) this.#up(last, slot);
    else this.#down(last, slot);
  }

  /** Rings the next one. @returns false when none is due */
  ringNext(now: number): boolean {
    const alarm = this.#heap[0];
    if (alarm === undefined || alarm.time > now) return false;
    this.unset(alarm);
    alarm.ring(now);
    return true;
  }

  #up(alarm: Alarm, from: number): void {
    let slot = from;
    while (slot > 0) {
      const parentSlot = (slot - 1) >> 1;
      const parent = this.#heap[parentSlot] as Alarm;
      if (parent.time <= alarm.time) break;
      this.#place(parent, slot);
      slot = parentSlot;
    }
    this.#place(alarm, slot);
  }

  #down(alarm: Alarm, from: number): void {
    let slot = from;
    for (;;) {
      let childSlot = slot * 2 + 1;
      if (childSlot >= this.#heap.length) break;
      const right = this.#heap[childSlot + 1];
      if (right !== undefined && right.time < (this.#heap[childSlot] as Alarm).time) childSlot++;
      const child = this.#heap[childSlot] as Alarm;
      if (child.time >= alarm.time) break;
      this.#place(child, slot);
      slot = childSlot;
    }
    this.#place(alarm, slot);
  }

  #place(alarm: Alarm, slot: number): void {
    this.#heap[slot] = alarm;
    alarm.slot = slot;
  }
}
