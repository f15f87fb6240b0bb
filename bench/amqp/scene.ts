import { type Arguments, Batch } from './frames.js';
import { LeanClient } from './lean-client.js';
import { until } from './measure.js';
import type { Target } from './target.js';

/** The most messages that are published and have not arrived yet. */
export const window = 2_000;

export const bodyOf = (size: number): Buffer => Buffer.alloc(size, 'x');

/** The connections and queues of one run, which are removed at its end. */
export class Scene {
  readonly #target: Target;
  readonly #clients: LeanClient[] = [];
  readonly #queues: string[] = [];

  constructor(target: Target) {
    this.#target = target;
  }

  async client(): Promise<LeanClient> {
    const client = await LeanClient.connect(this.#target);
    this.#clients.push(client);
    return client;
  }

  async queue(name: string, args: Arguments = {}, durability: 'transient' | 'durable' = 'transient'): Promise<void> {
    this.#queues.push(name);
    await (this.#clients[0] as LeanClient).declareQueue(name, args, durability === 'durable');
  }

  async close(): Promise<void> {
    for (const queue of this.#queues) await this.#clients[0]?.deleteQueue(queue);
    for (const client of this.#clients) await client.close();
  }
}

/** Publishes in batches, so that there is always a window of messages on their way. */
export class Pump {
  published = 0;
  readonly #client: LeanClient;
  readonly #batch: Batch;
  readonly #window: number;
  /** The number of messages that have arrived. */
  readonly #done: () => number;
  #isStopped = false;

  constructor(client: LeanClient, batch: Batch, done: () => number, size = window) {
    this.#client = client;
    this.#batch = batch;
    this.#done = done;
    this.#window = size;
  }

  readonly run = (): void => {
    let room = this.#window - (this.published - this.#done());
    if (this.#isStopped || room * 8 < this.#window) return;
    while (room > 0) {
      const { bytes, count } = this.#batch.take(room);
      this.#client.write(bytes);
      this.published += count;
      room -= count;
    }
  };

  /** Stops publishing, and waits until all messages have arrived. */
  async drain(): Promise<void> {
    this.#isStopped = true;
    await until(() => this.#done() >= this.published);
  }
}
