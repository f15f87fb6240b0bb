import type { Batch } from './frames.js';
import type { LeanClient } from './lean-client.js';

/** Messages between two passive declares. */
const between = 1_000;

/** The most unanswered passive declares. */
const ahead = 4;

/**
 * Publishes without confirms and without a consumer. A passive declare at intervals shows the progress: when the server answers it,
 * all earlier messages are routed.
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

  /** @param goesOn returns whether to publish more @returns the number of published messages, all of which are routed */
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
