import type { Batch } from './frames.js';
import type { LeanClient } from './lean-client.js';

/** Messages between two questions. */
const between = 1_000;

/** Questions under way. */
const ahead = 4;

/**
 * Publishes without confirms where nothing is delivered back: every so often the server is asked how long a queue is,
 * and by its answer all that went before has been routed.
 */
export class MarkedPublisher {
  routed = 0;
  readonly #client: LeanClient;
  readonly #batch: Batch;
  readonly #queue: string;

  constructor(client: LeanClient, batch: Batch, queue: string) {
    this.#client = client;
    this.#batch = batch;
    this.#queue = queue;
  }

  /** @param goesOn is asked with the number published so far @returns how many were published, all routed */
  async run(goesOn: (published: number) => boolean): Promise<number> {
    const answers: Promise<void>[] = [];
    let published = 0;
    for (let next = 0; goesOn(published); next++) {
      await answers[next - ahead];
      for (let count = 0; count < between;) {
        const taken = this.#batch.take(between - count);
        this.#client.write(taken.bytes);
        count += taken.count;
      }
      published += between;
      const sofar = published;
      answers.push(this.#client.waiting(this.#queue).then(() => void (this.routed = sofar)));
    }
    await Promise.all(answers);
    return published;
  }
}
