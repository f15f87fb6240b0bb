import type { BackendDelivery } from '../../backends/index.js';

/** The deliveries whose handlers have ended, and that are settled as soon as the broker has a successor or a reply. */
export class Settling {
  readonly #deliveries = new Set<BackendDelivery>();
  readonly #waiting: (() => void)[] = [];

  begin(delivery: BackendDelivery): void {
    this.#deliveries.add(delivery);
  }

  end(delivery: BackendDelivery): void {
    this.#deliveries.delete(delivery);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when there is none of a queue. */
  async idle(queue: string): Promise<void> {
    while (this.#has(queue)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #has(queue: string): boolean {
    for (const delivery of this.#deliveries) if (delivery.queue === queue && !delivery.settled) return true;
    return false;
  }
}
