import { inTurns } from '../index.js';
import type { Scrape } from './scrape.js';
import type { MeteredSource } from './meter.js';
import type { MeteredHandlers } from './source.js';

/** The brokers of one registry. */
export class RegisteredBrokers {
  readonly #handlers = new Set<MeteredHandlers>();
  #source: MeteredSource | undefined;
  #scrape: Promise<Scrape | undefined> | undefined;

  has(handlers: MeteredHandlers): boolean {
    return this.#handlers.has(handlers);
  }

  get handlers(): readonly MeteredHandlers[] {
    return [...this.#handlers];
  }

  /** The broker in this process. */
  get source(): MeteredSource | undefined {
    return this.#source;
  }

  add(handlers: MeteredHandlers, source: MeteredSource | undefined): void {
    this.#handlers.add(handlers);
    this.#source ??= source;
  }

  /** The numbers of one collection. A registry reads all of its metrics at once, and they share these numbers. */
  scrape(): Promise<Scrape | undefined> {
    if (this.#scrape === undefined) {
      this.#scrape = this.#take();
      const forget = (): void => void (this.#scrape = undefined);
      this.#scrape.then(forget, forget);
    }
    return this.#scrape;
  }

  async #take(): Promise<Scrape | undefined> {
    const meter = await this.#source?.meter;
    const scrape = await meter?.scrape('aggregated');
    if (meter !== undefined && scrape !== undefined) await inTurns(scrape.sum(), meter.turns);
    return scrape;
  }
}
