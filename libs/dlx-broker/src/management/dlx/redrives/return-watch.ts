import type { Queue } from '../../../broker/index.js';
import { textAt } from '../../../message/index.js';
import { redrivenHeaders } from './redriven-headers.js';

/** The largest number of watched queues. */
const mostQueues = 50;
/** Messages of one queue looked at in one go. */
const mostAtOnce = 1_000;

/** Sees messages of one redrive come back: it looks at what arrives in the queues in which their dead letters end up. */
export class ReturnWatch {
  /** Up to which position each queue was looked at. */
  readonly #seen = new Map<Queue, number>();

  constructor(readonly task: string) {}

  /** From now on; what is in it already is not looked at. */
  add(queue: Queue): void {
    if (!this.#seen.has(queue) && this.#seen.size < mostQueues) this.#seen.set(queue, queue.lastPosition);
  }

  /** @returns how many came since the last look */
  look(): number {
    let count = 0;
    for (const [queue, seen] of this.#seen) {
      const upTo = Math.min(queue.lastPosition, seen + mostAtOnce);
      for (let position = seen + 1; position <= upTo; position++) {
        const headers = queue.find(position)?.message.own.headers;
        if (textAt(headers, redrivenHeaders.task) === this.task) count++;
      }
      this.#seen.set(queue, upTo);
    }
    return count;
  }
}

/** A queue from which messages go on by themselves after a while: what comes there will be tried again. */
export const isWaitingRoom = ({ settings }: Queue): boolean =>
  settings.messageTtl !== undefined && settings.deadLetterExchange !== undefined;
