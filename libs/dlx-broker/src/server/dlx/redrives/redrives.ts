import type { Clock } from '../../../engine/broker/index.js';
import type { Turns } from '../../http/turns.js';
import { groupsOf, type RedriveOrder } from './redrive-order.js';
import { QueueRedrive, type RedriveParts } from './queue-redrive.js';

/** A redrive that cannot begin beside those that run. */
export class RedriveConflictError extends Error {
  override readonly name = 'RedriveConflictError';
}

/** The most redrives at a time, and the most ended redrives that are remembered. */
const most = { running: 20, remembered: 100 };

/** The redrives of a broker: all that run, and the last that ended. */
export class QueueRedrives {
  readonly #tasks = new Map<string, QueueRedrive>();
  #number = 0;

  constructor(readonly parts: RedriveParts) {}

  /** @throws RedriveConflictError if the queue is being redriven already, or too many redrives run */
  start(order: RedriveOrder): QueueRedrive {
    const running = this.list().filter((task) => !task.isOver);
    for (const { queue } of groupsOf(order)) {
      const same = running.find((task) => task.isOf(queue));
      if (same === undefined) continue;
      throw new RedriveConflictError(`queue '${queue.name}' is being redriven already, by redrive '${same.id}'`);
    }
    if (running.length >= most.running) throw new RedriveConflictError(`${most.running} redrives run already`);
    const task = new QueueRedrive(this.name(), order, this.parts);
    this.#tasks.set(task.id, task);
    this.#forget();
    return task;
  }

  /**
   * Counts the destinations as fast as the turns of the host allow. A dry run is not in the list.
   * @param signal cancels it when its client has gone
   */
  dryRun(order: RedriveOrder, turns: Turns, signal?: AbortSignal): Promise<QueueRedrive> {
    const { clock, log } = this.parts;
    return new Promise((resolve) => {
      const ended = (task: QueueRedrive): void => {
        signal?.removeEventListener('abort', cancel);
        resolve(task);
      };
      const cancel = (): void => void task.cancel('its client is gone');
      const task = new QueueRedrive(
        this.name(),
        { ...order, dryRun: true },
        { clock: inTurnsOf(clock, turns), ended, log },
      );
      signal?.addEventListener('abort', cancel);
      if (signal?.aborted === true) cancel();
    });
  }

  get(id: string): QueueRedrive | undefined {
    return this.#tasks.get(id);
  }

  /** All redrives, newest first. */
  list(): readonly QueueRedrive[] {
    return [...this.#tasks.values()].reverse();
  }

  /** Cancels all redrives, and the watches of those that ended. */
  close(): void {
    for (const task of this.#tasks.values()) task.close('the broker shut down');
  }

  /** An id that no redrive had before, also before a restart, because messages carry it. */
  name(): string {
    return `${this.parts.clock.now().toString(36)}-${++this.#number}`;
  }

  #forget(): void {
    const over = this.list().filter((task) => task.isOver);
    for (const task of over.slice(most.remembered)) {
      task.close();
      this.#tasks.delete(task.id);
    }
  }
}

/** The time of a clock, with turns in place of its times to wake. */
const inTurnsOf = (clock: Clock, turns: Turns): Clock => ({
  now: () => clock.now(),
  wakeAt: (time, tick) => {
    if (time !== undefined) void turns.next().then(tick);
  },
});
