import type { Task } from '../scheduler/task.js';
import { methodIds } from '../../message/index.js';
import { AmqpError, noQueue } from '../errors.js';
import type { Queue } from '../queue/queue.js';
import type { Got, ReceivingChannel } from './receiver.js';
import { stepsPerCommand } from './settler.js';

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
