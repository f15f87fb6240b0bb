import { methodIds } from '../../message/index.js';
import { partialCompletion } from '../errors.js';
import type { Settled } from '../ports.js';
import type { ReceivingChannel } from './receiver.js';
import { FlushTask } from '../scheduler/flush-task.js';
import { stepsPerCommand } from './settler.js';
import { type Held, type HeldPublish, sizeOf } from './transaction.js';

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
