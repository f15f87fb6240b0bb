import { AsyncResource } from 'node:async_hooks';
import type { Done } from '../../../backends/index.js';
import { type End, type Handling, type Outcome, undone } from '../../core/handler.js';

/**
 * The attempt of a handler with an outbox has ended: its message is committed after a success; after a failure what was emitted is
 * dropped.
 * @param then gets the outcome: a failure if the commit failed
 */
export function endOutbox(handling: Handling, outcome: Outcome, then: End): void {
  const { outbox, delivery, context } = handling;
  if (outbox === undefined) return then(outcome);
  // The answer of a server comes in the async context of a socket.
  const own = new AsyncResource('DlxCommit');
  const failed = (failure: Error): void => {
    context.capture(failure);
    then({ failed: true, failure });
  };
  const inContext =
    (end: Done): Done =>
    (failure) =>
      own.runInAsyncScope(end, undefined, failure);
  if (outbox.isCommitting) {
    // The handler called ack(), and the server has not answered yet.
    return outbox.whenCommitted(
      inContext((failure) => (failure === undefined || outcome.failed ? then(outcome) : failed(failure))),
    );
  }
  if (outcome.failed || context.isSettled) {
    // Still open: the handler did not settle the message, so it has returned to its queue, and will be handled again.
    const isUndone = !outcome.failed && outbox.isOpen;
    outbox.drop();
    return then(isUndone ? undone : outcome);
  }
  outbox.commit(
    delivery,
    inContext((failure) => {
      if (failure !== undefined) return failed(failure);
      outbox.hasAcked = true;
      then(outcome);
    }),
  );
}
