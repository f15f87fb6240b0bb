import type { Scheduler } from '../scheduler/scheduler.js';
import type { Task } from '../scheduler/task.js';
import type { VirtualHostCore } from '../virtual-host/core.js';

/** A channel that ends. */
interface EndingChannel {
  /** @returns steps taken; as many as the limit when there may be more to do */
  letGo(now: number, limit: number): number;
}

/**
 * What is left of channels that have ended: their consumers leave the queues, what is outstanding returns, and the exclusive
 * queues of their connection are deleted. However much there is, it stops at its limit.
 */
export class Ending implements Task {
  #next = 0;
  /** The number of the last task of the scheduler that belongs to it. */
  #upTo = 0;

  constructor(
    readonly channels: readonly EndingChannel[],
    readonly vhost: VirtualHostCore,
    /** Names of exclusive queues; each is taken out when its queue is deleted. */
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

  /** Calls `then` when nothing is left: at once when it is so. */
  after(then: () => void): void {
    const upTo = this.#upTo;
    this.#scheduler.afterTasks(() => (this.#upTo > upTo ? this.after(then) : then()), upTo);
  }

  work(now: number, limit: number): number {
    const { lastTask } = this.#scheduler;
    const steps = this.#work(now, limit);
    if (this.#scheduler.lastTask > lastTask) this.#upTo = this.#scheduler.lastTask; // messages return in a task of their own
    return steps;
  }

  #work(now: number, limit: number): number {
    let steps = 0;
    while (this.#next < this.channels.length) {
      if (steps >= limit) return limit;
      const taken = (this.channels[this.#next] as EndingChannel).letGo(now, limit - steps);
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
