import type { DeathReason, FieldTable, Message } from '../../message/index.js';
import type { Entry, RetainedDeath } from './entry.js';
import type { Queue } from './queue.js';

/** A message that left its queue by one of the four deaths, with the address its queue gave it at that moment (rule F6). */
export class DeadLetter implements RetainedDeath {
  /** At-least-once: the queues that have it already, so that a retry does not double it (rule M3). */
  delivered: Set<Queue> | undefined;

  constructor(
    readonly queue: Queue,
    readonly entry: Entry,
    readonly reason: DeathReason,
    /** When it died, in milliseconds since 1970. */
    readonly time: number,
    readonly exchange: string,
    /** The configured key, or undefined for the message's own keys (rule G2). */
    readonly routingKey: string | undefined,
    /** Headers a rejecting handler adds, our extension: AMQP's reject has none. */
    readonly headers: FieldTable | undefined,
    /** It counts in its queue until every target has it (rule M3). */
    readonly retained: boolean,
  ) {}

  /**
   * Whether a queue is to get it.
   * @param message what it goes on as
   */
  isFor(queue: Queue, { deaths }: Message): boolean {
    return this.delivered?.has(queue) !== true && deaths?.closesCycle(queue.name) !== true; // rules M3, I2
  }

  /** A queue took it. */
  arrivedIn(queue: Queue): void {
    if (this.retained) (this.delivered ??= new Set()).add(queue);
  }
}
