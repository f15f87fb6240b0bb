import type { Backend } from '../../backends/index.js';

interface Emptied {
  /** Letters in the queue at the start. */
  readonly length: number;
  redriven: number;
  /** Letters that the redrive took, settled since or not. */
  taken: number;
}

/** Counts the letters that arrive in the queues of a redrive from its start. */
export class Arrivals {
  readonly #queues = new Map<string, Emptied>();
  #count = 0;

  constructor(readonly backend: Backend) {}

  add(queue: string, length: number): void {
    this.#queues.set(queue, { length, redriven: 0, taken: 0 });
  }

  taken(queue: string): void {
    const emptied = this.#queues.get(queue);
    if (emptied !== undefined) emptied.taken++;
  }

  /** Everything taken from a queue and not redriven is back in it. */
  returned(queue: string): void {
    const emptied = this.#queues.get(queue);
    if (emptied !== undefined) emptied.taken = emptied.redriven;
  }

  redriven(queue: string): void {
    const emptied = this.#queues.get(queue);
    if (emptied !== undefined) emptied.redriven++;
  }

  /**
   * Where a backend cannot tell what is unacknowledged, the letters in the hands of this redrive count.
   * @returns how many letters arrived since the last call; never negative, although other consumers may take letters
   */
  async count(): Promise<number> {
    let arrived = 0;
    for (const [queue, { length, redriven, taken }] of this.#queues) {
      const status = await this.backend.status(queue);
      if (status === undefined) continue;
      const inHand = status.unacknowledged ?? taken - redriven;
      arrived += Math.max(0, status.messages + inHand + redriven - length);
    }
    const before = this.#count;
    this.#count = Math.max(before, arrived);
    return this.#count - before;
  }
}
