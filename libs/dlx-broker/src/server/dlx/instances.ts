import { randomUUID } from 'node:crypto';
import type { Queue } from '../../engine/broker/index.js';

/**
 * Names for declarations of queues. The ids of messages are unique in one of them only: a queue that is deleted and declared anew
 * begins again, and gets another name here. So does every queue when the broker starts.
 */
export class Instances {
  readonly #names = new WeakMap<Queue, string>();

  of(queue: Queue): string {
    let name = this.#names.get(queue);
    if (name === undefined) this.#names.set(queue, (name = randomUUID()));
    return name;
  }
}
