import type { Queue } from '../../../engine/broker/index.js';
import { textAt } from '../../../engine/message/index.js';
import { redrivenHeaders } from './redriven-headers.js';

/** The largest number of watched queues. */
const mostQueues = 50;
/** The most messages of one queue that are examined in one step. */
const mostAtOnce = 1_000;

/** Counts the messages of a redrive that come back: they arrive in the queues of their dead letters. */
export class ReturnWatch {
  /** The last position in each queue that was read. */
  readonly #seen = new Map<Queue, number>();

  constructor(readonly task: string) {}

  /** Watches a queue. Messages that it has already are not counted. */
  add(queue: Queue): void {
    if (!this.#seen.has(queue) && this.#seen.size < mostQueues) this.#seen.set(queue, queue.lastPosition);
  }

  /** @returns the number of messages that came back since the last call */
  count(): number {
    let returned = 0;
    for (const [queue, seen] of this.#seen) {
      const upTo = Math.min(queue.lastPosition, seen + mostAtOnce);
      for (let position = seen + 1; position <= upTo; position++) {
        const headers = queue.find(position)?.message.own.headers;
        if (textAt(headers, redrivenHeaders.task) === this.task) returned++;
      }
      this.#seen.set(queue, upTo);
    }
    return returned;
  }
}

/** True for a queue whose messages expire into another queue: a message there is being retried and has not come back. */
export const isWaitQueue = ({ settings }: Queue): boolean =>
  settings.messageTtl !== undefined && settings.deadLetterExchange !== undefined;
