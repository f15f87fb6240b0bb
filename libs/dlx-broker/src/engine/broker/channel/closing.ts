import type { Scheduler } from '../scheduler/scheduler.js';
import type { Task } from '../scheduler/task.js';
import type { VirtualHostCore } from '../virtual-host/core.js';

/** A channel that is being closed. */
interface ClosingChannel {
  /** @returns steps taken; as many as the limit when there may be more to do */
  releaseSome(now: number, limit: number): number;
}

/**
 * The task that releases what closed channels have: consumers leave their queues, outstanding deliveries return, and the
 * exclusive queues of a closed connection are deleted.
 */
export class Closing implements Task {
  #next = 0;
  /** The number of the last task of the scheduler that belongs to this one. */
  #upTo = 0;

  constructor(
    readonly channels: readonly ClosingChannel[],
    readonly vhost: VirtualHostCore,
    /** Names of exclusive queues; a name is removed when its queue is deleted. */
    readonly queues?: Set<string>,
  ) {}

  get #scheduler(): Scheduler {
    return this.vhost.scheduler;
  }

  /** Part of a command. */
  start(): void {
    const { lastTask } = this.#scheduler;
    this.#scheduler.runOrSchedule(this, this.#scheduler.clock.now());
    if (this.#scheduler.lastTask > lastTask) this.#upTo = this.#scheduler.lastTask;
  }

  /** Calls `then` when everything is released: at once if it is. */
  after(then: () => void): void {
    const upTo = this.#upTo;
    this.#scheduler.afterTasks(() => (this.#upTo > upTo ? this.after(then) : then()), upTo);
  }

  work(now: number, limit: number): number {
    const { lastTask } = this.#scheduler;
    const steps = this.#work(now, limit);
    if (this.#scheduler.lastTask > lastTask) this.#upTo = this.#scheduler.lastTask; // many messages return in a task of their own
    return steps;
  }

  #work(now: number, limit: number): number {
    let steps = 0;
    while (this.#next < this.channels.length) {
      if (steps >= limit) return limit;
      const taken = (this.channels[this.#next] as ClosingChannel).releaseSome(now, limit - steps);
      if (taken >= limit - steps) return limit; // the channel may have more, also with the next limit
      this.#next++;
      steps += taken > 0 ? taken : 1;
    }
    for (const name of this.queues ?? []) {
      if (steps >= limit) return limit;
      this.queues?.delete(name);
      const queue = this.vhost.queues.get(name);
      if (queue !== undefined) this.vhost.removeQueue(queue);
      steps++;
    }
    return steps;
  }
}
