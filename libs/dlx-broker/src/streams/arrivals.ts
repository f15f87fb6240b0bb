import type { Backend } from '../backend/index.js';

interface Emptied {
  /** Letters in the queue at the start. */
  readonly length: number;
  redriven: number;
}

/** Counts the letters that arrive in the queues of a redrive from its start. */
export class Arrivals {
  readonly #queues = new Map<string, Emptied>();
  #count = 0;

  constructor(readonly backend: Backend) {}

  add(queue: string, length: number): void {
    this.#queues.set(queue, { length, redriven: 0 });
  }

  redriven(queue: string): void {
    const emptied = this.#queues.get(queue);
    if (emptied !== undefined) emptied.redriven++;
  }

  /** @returns how many letters arrived since the last look; never negative, although other consumers may take letters */
  async look(): Promise<number> {
    let count = 0;
    for (const [queue, { length, redriven }] of this.#queues) {
      const status = await this.backend.status(queue);
      if (status !== undefined)
        count += Math.max(0, status.messages + (status.unacknowledged ?? 0) + redriven - length);
    }
    const before = this.#count;
    this.#count = Math.max(before, count);
    return this.#count - before;
  }
}
