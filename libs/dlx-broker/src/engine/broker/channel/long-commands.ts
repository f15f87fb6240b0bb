import { methodIds } from '../../message/index.js';
import { AmqpError, noQueue, partialCompletion } from '../errors.js';
import type { Settled } from '../ports.js';
import type { Queue } from '../queue/queue.js';
import type { Scheduler } from '../scheduler/scheduler.js';
import type { Task } from '../scheduler/task.js';
import type { VirtualHostCore } from '../virtual-host/core.js';
import type { Got, ReceivingChannel } from './receiver.js';
import { stepsPerCommand } from './settler.js';
import { type Held, type HeldPublish, sizeOf } from './transaction.js';

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

/**
 * A `basic.get`, in turns. It removes expired messages in front of the message, takes the message, and then removes those that expired
 * behind it, so that the message count of the answer is exact.
 */
class Fetching implements Task {
  /** The answer; undefined when the queue is empty. */
  got: Got | undefined;
  /** Why there is no answer. */
  error: AmqpError | undefined;
  #expired = 0;
  #isTaken = false;

  constructor(
    readonly channel: ReceivingChannel,
    readonly queue: Queue,
    readonly noAck: boolean,
  ) {}

  work(now: number, limit: number): number {
    if (this.channel.isClosed) return 0;
    let steps = this.queue.dropExcess(now, limit);
    const expired = this.queue.expire(now, limit - steps);
    steps += expired;
    if (!this.#isTaken) {
      this.#expired += expired;
      if (steps >= limit) return limit;
      this.#take(now);
      if (this.got === undefined) return steps;
      steps += this.queue.expire(now, limit - steps);
    }
    if (steps >= limit) return limit;
    this.#count();
    return steps;
  }

  #take(now: number): void {
    this.#isTaken = true;
    try {
      if (this.queue.deleted) throw noQueue(this.queue.name, this.channel.vhost.name);
      this.got = this.channel.receiver.fetch(this.queue, this.noAck, now, this.#expired);
    } catch (error) {
      if (!(error instanceof AmqpError)) throw error;
      this.error = error;
    }
  }

  /** Rule Q7: in a quorum queue, messages that expire right behind it still count, unless the get settles its message. */
  #count(): void {
    if (this.got === undefined || (this.queue.declared.type === 'quorum' && !this.noAck)) return;
    if (this.got.messageCount !== this.queue.length) this.got = { ...this.got, messageCount: this.queue.length };
  }
}

/** @throws 403 without the right to read, 404, 405 */
function fetchingOf(channel: ReceivingChannel, queue: string, noAck: boolean): Fetching {
  const { connection, vhost } = channel;
  const name = channel.queueName(queue);
  vhost.check(connection.user, 'read', 'queue', name);
  return new Fetching(channel, vhost.queueFor(connection, name), noAck);
}

/** Part of a command: does all in one turn. */
export function getNow(channel: ReceivingChannel, queue: string, noAck: boolean, now: number): Got | undefined {
  const fetching = fetchingOf(channel, queue, noAck);
  fetching.work(now, Infinity);
  if (fetching.error !== undefined) throw fetching.error;
  return fetching.got;
}

/** Part of a command: in turns when there is much to do. */
export function getLater(
  channel: ReceivingChannel,
  queue: string,
  noAck: boolean,
  now: number,
  answer: (got: Got | undefined) => void,
): void {
  const { scheduler } = channel;
  const fetching = fetchingOf(channel, queue, noAck);
  if (fetching.work(now, stepsPerCommand) < stepsPerCommand) {
    if (fetching.error !== undefined) throw fetching.error;
    return answer(fetching.got);
  }
  fetching.queue.touch(now);
  scheduler.schedule(fetching);
  scheduler.afterTasks(() => {
    if (channel.isClosed) return;
    if (fetching.error === undefined) answer(fetching.got);
    else channel.closeLater(fetching.error, methodIds.basicGet);
  });
}

/**
 * Part of a command: publishes, then settles (rule K8). A large transaction is committed in turns.
 * @param publish returns false when a queue refuses the message
 * @throws 406 when a queue refused a message (rule K9); in a later turn this error closes the channel
 */
export function commit(
  channel: ReceivingChannel,
  held: Held,
  publish: (held: HeldPublish, now: number) => boolean,
  settled: Settled | undefined,
  now: number,
): void {
  const { scheduler, receiver } = channel;
  const { sequence } = scheduler;
  let complete = true;
  const committing = receiver.settler.committing(held, (one, then) => {
    if (!publish(one, then)) complete = false;
  });
  const done = (): void => {
    if (settled !== undefined) scheduler.onStored(sequence, settled);
  };
  if (sizeOf(held) > stepsPerCommand) {
    scheduler.schedule(committing);
    scheduler.afterTasks(() => (complete ? scheduler.batch(done) : fail(channel, settled)));
    return;
  }
  committing.work(now, Infinity);
  if (complete) return done();
  scheduler.flush(now); // rule K13: deliveries that the settlements made possible come before the channel closes
  throw partialCompletion();
}

/** Rules K9 and K13, of a commit in turns. */
function fail(channel: ReceivingChannel, settled: Settled | undefined): void {
  const { scheduler, connection } = channel;
  scheduler.batch(() => scheduler.schedule(new FlushTask(scheduler)));
  scheduler.afterTasks(() =>
    connection.pendingOutputs.after(() => {
      const error = partialCompletion();
      settled?.(error);
      channel.closeLater(error, methodIds.txCommit);
    }),
  );
}

/**
 * Serves the queues, routes the dead letters of that moment, and serves the queues again (rule K13). It does not wait for later dead
 * letters, so the task ends even if queues dead-letter to one another in a cycle.
 */
class FlushTask implements Task {
  #isServed = false;
  #letters = 0;

  constructor(readonly scheduler: Scheduler) {}

  work(now: number, limit: number): number {
    const { scheduler } = this;
    let steps = 0;
    if (!this.#isServed) {
      steps = scheduler.serveQueues(now, limit);
      if (steps >= limit) return limit;
      this.#isServed = true;
      this.#letters = scheduler.dead.length;
    }
    const routed = scheduler.routeDeadLetters(now, Math.min(this.#letters, limit - steps));
    this.#letters -= routed;
    steps += routed;
    if (steps >= limit) return limit;
    return steps + scheduler.serveQueues(now, limit - steps);
  }
}
