import type { Message } from '../../engine/message/index.js';
import { NumberList } from './number-list.js';

/** Messages that are not in the log yet, in the order of their arrival. */
export class FreshList {
  #messages: (Message | undefined)[] = [];
  readonly #queues = new NumberList();
  #first = 0;

  get length(): number {
    return this.#messages.length - this.#first;
  }

  /** @param queue its first queue */
  push(message: Message, queue: number): void {
    this.#messages.push(message);
    this.#queues.push(queue);
  }

  at(index: number): Message {
    return this.#messages[this.#first + index] as Message;
  }

  /** The first queue of a message. */
  queueAt(index: number): number {
    return this.#queues.at(index);
  }

  /** Removes messages from the front. */
  drop(count: number): void {
    this.#messages.fill(undefined, this.#first, this.#first + count);
    this.#first += count;
    this.#queues.drop(count);
    if (this.#first < this.#messages.length) return;
    this.#messages = [];
    this.#first = 0;
  }
}
