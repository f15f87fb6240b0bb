import { Problem } from '../../http/reply.js';
import type { Password, RemoteMover, RemoteOrder, StartRedrive } from './remote-redrive.js';

/** The most redrives at a time, and the most ended redrives that are remembered. */
const most = { running: 20, remembered: 100 };

/** A redrive, its order and its times. It has no password, because it is remembered after its end. */
export interface RemoteTask {
  readonly id: string;
  readonly order: RemoteOrder;
  readonly mover: RemoteMover;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  endedAt: number | undefined;
  /** Why it was stopped, if a user or the end of the application did so. */
  reason: string | undefined;
}

/** The redrives that the console of this application has started. */
export class RemoteRedrives {
  readonly #tasks = new Map<string, RemoteTask>();
  #number = 0;

  /**
   * @param now milliseconds since 1970
   * @param ended gets each redrive at its end
   */
  constructor(
    readonly start: StartRedrive,
    readonly now: () => number,
    readonly ended: (task: RemoteTask) => void,
  ) {}

  /** @throws Problem 409 if the queue is being redriven already, or too many redrives run */
  begin({ password, ...order }: RemoteOrder & Password): RemoteTask {
    const running = this.list().filter(({ endedAt }) => endedAt === undefined);
    const same = running.find((task) => task.order.vhost === order.vhost && task.order.queue === order.queue);
    if (same !== undefined) {
      throw conflict(`queue '${order.queue}' is being redriven already, by redrive '${same.id}'`);
    }
    if (running.length >= most.running) throw conflict(`${most.running} redrives run already`);
    const startedAt = this.now();
    const id = `${startedAt.toString(36)}-${++this.#number}`;
    const task: RemoteTask = {
      id,
      order,
      mover: this.start({ ...order, password }),
      startedAt,
      endedAt: undefined,
      reason: undefined,
    };
    this.#tasks.set(id, task);
    void task.mover.ended.then(() => {
      task.endedAt = this.now();
      this.ended(task);
    });
    this.#forget();
    return task;
  }

  get(id: string): RemoteTask | undefined {
    return this.#tasks.get(id);
  }

  /** All redrives, newest first. */
  list(): readonly RemoteTask[] {
    return [...this.#tasks.values()].reverse();
  }

  /** Stops all redrives, and closes their connections. */
  async close(): Promise<void> {
    await Promise.all(
      this.list().map(async (task) => {
        if (task.endedAt === undefined) task.reason = 'the application shut down';
        await task.mover.close();
      }),
    );
  }

  #forget(): void {
    const over = this.list().filter(({ endedAt }) => endedAt !== undefined);
    for (const { id, mover } of over.slice(most.remembered)) {
      void mover.close();
      this.#tasks.delete(id);
    }
  }
}

export const conflict = (reason: string): Problem => new Problem(409, 'conflict', reason);
