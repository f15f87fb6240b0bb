import type { Message } from '../../message/index.js';
import { NumberList } from './number-list.js';

/** Messages that the log does not have yet, in the order in which they came. */
export class FreshList {
  #messages: (Message | undefined)[] = [];
  readonly #queues = new NumberList();
  #first = 0;

  get length(): number {
    return this.#messages.length - this.#first;
  }

  /** @param queue that it was enqueued to first */
  push(message: Message, queue: number): void {
    this.#messages.push(message);
    this.#queues.push(queue);
  }

  at(index: number): Message {
    return this.#messages[this.#first + index] as Message;
  }

  /** The queue it was enqueued to first. */
  queueAt(index: number): number {
    return this.#queues.at(index);
  }

  /** Forgets so many, from the first on. */
  drop(count: number): void {
    this.#messages.fill(undefined, this.#first, this.#first + count);
    this.#first += count;
    this.#queues.drop(count);
    if (this.#first < this.#messages.length) return;
    this.#messages = [];
    this.#first = 0;
  }
}
