import type { BackendDelivery, Done } from '../../libs/dlx-broker/src/backends/index.js';
import { emptyTable } from '../../libs/dlx-broker/src/engine/message/index.js';
import { park, retryOrPark, type WaitQueues } from '../../libs/dlx-broker/src/nest/retry/index.js';
import type { Random } from '../fuzz/random.js';
import type { Life } from './life.js';
import type { ReplicaPlan, Task } from './plan.js';
import type { ReplicaHost } from './replica.js';
import { queues } from './topology.js';
import { seenIn } from './watched.js';

/** Milliseconds until a message returns to its queue whose successor the broker did not take. */
const returnAfter = 1_000;

/** The longest wait of a process that stops, for its handlers, in milliseconds. */
const patience = 10_000;

/** The handlers of one process: each takes some time, and then does with the message what its task says. */
export class Handlers {
  readonly #live = new Set<BackendDelivery>();
  /** Deliveries whose successors are on their way. The server may have acked them with the successor, before it confirms (rule K14). */
  readonly #leaving = new WeakSet<BackendDelivery>();

  constructor(
    private readonly host: ReplicaHost,
    private readonly life: Life,
    private readonly waitQueues: WaitQueues,
    private readonly random: Random,
    private readonly plan: ReplicaPlan,
  ) {}

  /** Deliveries that are neither settled nor back in their queue. */
  get busy(): number {
    for (const delivery of this.#live) if (delivery.settled) this.#live.delete(delivery);
    return this.#live.size;
  }

  take(delivery: BackendDelivery, prefetch: number): void {
    const { world, oracle } = this.host;
    const seen = seenIn(delivery.message, delivery.queue);
    oracle.delivered(seen, delivery.redelivered);
    this.#live.add(delivery);
    if (this.busy > 0 && this.#of(delivery.queue) > prefetch)
      world.violated(`queue ${delivery.queue} delivered more than the prefetch of ${prefetch}`);
    const task = oracle.task(seen.id);
    if (task === undefined) return;
    this.life.after(this.random.integer(0, this.plan.slowest), () => {
      if (!delivery.settled) this.#handle(delivery, task, seen.attempt);
    });
  }

  /** Resolves when no handler is at work, or the patience is over. Successors may still be on their way: the backend waits for them. */
  async rest(): Promise<void> {
    const isAtWork = (): boolean => [...this.#live].some((each) => !each.settled && !this.#leaving.has(each));
    for (let waited = 0; isAtWork() && waited < patience; waited += 100) {
      await new Promise<void>((resolve) => void this.life.after(100, resolve));
    }
  }

  #of(queue: string): number {
    let count = 0;
    for (const delivery of this.#live) if (delivery.queue === queue && !this.#leaving.has(delivery)) count++;
    return count;
  }

  #handle(delivery: BackendDelivery, task: Task, attempt: number): void {
    if (delivery.queue !== queues.orders) return this.#ack(delivery, task);
    if (attempt <= task.failures) return this.#fail(delivery, task, attempt);
    switch (task.fate) {
      case 'forward':
        return this.#forward(delivery, task);
      case 'park':
        return park(delivery, queues.parked, this.waitQueues, {}, this.#replaced(delivery, task, queues.parked, 1));
      case 'reject':
        this.host.world.note(`rejected ${task.id}`);
        return delivery.reject();
      case 'requeue':
        if (!delivery.redelivered) return this.#requeue(delivery);
        return this.#ack(delivery, task);
      case 'ack':
        return this.#ack(delivery, task);
    }
  }

  #ack(delivery: BackendDelivery, task: Task): void {
    this.host.oracle.handled(task, seenIn(delivery.message, delivery.queue));
    delivery.ack();
  }

  #requeue(delivery: BackendDelivery): void {
    this.host.oracle.requeues++;
    delivery.requeue();
  }

  #fail(delivery: BackendDelivery, task: Task, attempt: number): void {
    const failure = { error: new Error('the handler failed'), headers: emptyTable };
    this.#leaving.add(delivery);
    retryOrPark(delivery, this.host.retry, failure, this.waitQueues, ({ kind }, error) => {
      const isParked = kind === 'parked';
      this.#replaced(delivery, task, isParked ? queues.parked : queues.orders, isParked ? 1 : attempt + 1)(error);
    });
  }

  #forward(delivery: BackendDelivery, task: Task): void {
    const { message } = delivery;
    delivery.replaceBy(
      { exchange: '', routingKey: queues.done, properties: message.own, body: message.body, mandatory: true },
      this.#replaced(delivery, task, queues.done, 1),
    );
  }

  /** The end of a `replaceBy`: without a failure the broker has the successor. */
  #replaced(delivery: BackendDelivery, { id }: Task, queue: string, attempt: number): Done {
    this.#leaving.add(delivery);
    return (failure) => {
      if (failure === undefined)
        return this.host.oracle.promised({ id, queue, attempt }, seenIn(delivery.message, delivery.queue));
      this.#leaving.delete(delivery);
      this.host.world.note(`successor of ${id} failed: ${failure.message}`);
      this.life.after(returnAfter, () => {
        if (!delivery.settled) this.#requeue(delivery);
      });
    };
  }
}
