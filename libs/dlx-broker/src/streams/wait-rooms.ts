import type { Backend } from '../backend/index.js';
import { emptyTable } from '../message/index.js';
import { DlxConfigurationError, mostWaitQueues, waitQueues } from '../topology/index.js';
import type { Topology, WaitQueueType } from '../topology/index.js';

/** Declares the queues a letter may be sent to, when one first is, and remembers them. */
export class WaitRooms {
  readonly #backend: Backend;
  readonly #type: WaitQueueType;
  readonly #waits = new Map<number, Promise<void>>();
  readonly #lots = new Map<string, Promise<void>>();
  readonly #ready = new Set<number | string>();

  constructor(backend: Backend, type: WaitQueueType) {
    this.#backend = backend;
    this.#type = type;
  }

  /** @returns a promise while the wait queue of this delay is not known to stand; undefined once it is */
  wait(delay: number): Promise<void> | undefined {
    if (!this.#waits.has(delay) && this.#waits.size >= mostWaitQueues) {
      throw new DlxConfigurationError(
        `retryIn(${delay}): ${mostWaitQueues} different delays are in use, each a queue of its own; round to one of them`,
      );
    }
    return this.#once(this.#waits, delay, () => this.#backend.declare(waitQueues([delay], 'retryIn', this.#type)));
  }

  /** The same for a parking lot: one that exists is taken as it is. */
  lot(queue: string): Promise<void> | undefined {
    return this.#once(this.#lots, queue, async () => {
      if ((await this.#backend.status(queue)) === undefined) await this.#backend.declare(parkingLot(queue));
    });
  }

  #once<Key extends number | string>(
    known: Map<Key, Promise<void>>,
    key: Key,
    declare: () => Promise<void>,
  ): Promise<void> | undefined {
    if (this.#ready.has(key)) return undefined;
    let declared = known.get(key);
    if (declared === undefined) {
      declared = declare().then(
        () => void this.#ready.add(key),
        (error: unknown) => {
          known.delete(key); // the next letter tries again
          throw error;
        },
      );
      known.set(key, declared);
    }
    return declared;
  }
}

const parkingLot = (name: string): Topology => ({
  exchanges: [],
  queues: [{ name, durable: true, exclusive: false, autoDelete: false, arguments: emptyTable, origin: 'park' }],
  bindings: [],
});
