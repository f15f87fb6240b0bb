import { attemptOf } from '../history/index.js';
import {
  park,
  retryIn,
  retryOrPark,
  type Failure,
  type RetryOutcome,
  type WaitQueues,
  type RetryPlan,
} from '../retry/index.js';
import { type BackendDelivery, type Done } from '../backend/index.js';

import { Park, RetryLater } from './outcomes.js';

/** Called when the broker has the successor, or refused it. */
export type Decided = (outcome: RetryOutcome, failure: Error | undefined) => void;

/** Publishes the successor of a failed delivery: to a wait queue, or to the parking lot. */
export class Retrying {
  constructor(private readonly waitQueues: WaitQueues) {}

  /** Retries or parks, by the policy or by the exception of the handler. */
  decide(delivery: BackendDelivery, plan: RetryPlan | undefined, failure: Failure, decided: Decided): void {
    const { error } = failure;
    if (error instanceof Park) return this.park(delivery, plan, failure, decided);
    together(decided, (done) =>
      plan === undefined
        ? this.#later(delivery, error as RetryLater, failure, done)
        : retryOrPark(delivery, plan, { ...failure, asked: waitAskedBy(error) }, this.waitQueues, done),
    );
  }

  /** Sends the delivery to the parking lot of its policy, or of its queue. */
  park(delivery: BackendDelivery, plan: RetryPlan | undefined, { headers }: Failure, decided: Decided): void {
    const queue = plan?.queue ?? delivery.queue;
    const lot = plan?.parkingLot ?? `${queue}.parked`;
    const attempt = attemptOf(delivery.message, queue);
    together(decided, (done) => {
      park(delivery, lot, this.waitQueues, { queue, attempt, headers }, done);
      return { kind: 'parked', queue: lot, attempt, why: 'asked' };
    });
  }

  /** Sends the delivery to its queue after a delay, as the same attempt. */
  postpone(delivery: BackendDelivery, delay: number, done: Done): void {
    const attempt = attemptOf(delivery.message, delivery.queue);
    retryIn(delivery, this.waitQueues.nearest(delay), this.waitQueues, { attempt }, done);
  }

  /** Retries after the delay of a RetryLater, without a policy. */
  #later(delivery: BackendDelivery, { delay: asked }: RetryLater, { headers }: Failure, done: Done): RetryOutcome {
    const attempt = attemptOf(delivery.message, delivery.queue);
    const delay = asked === 0 ? 0 : this.waitQueues.nearest(asked);
    retryIn(delivery, delay, this.waitQueues, { attempt: attempt + 1, headers }, done);
    return { kind: 'retried', delay, attempt };
  }
}

/** Calls `decided` with both the outcome and the end. The end may come first (embedded broker) or later (RabbitMQ). */
function together(decided: Decided, begin: (done: Done) => RetryOutcome): void {
  const known: { outcome?: RetryOutcome; ended?: { readonly failure: Error | undefined } } = {};
  const finish = (): void => {
    if (known.outcome !== undefined && known.ended !== undefined) decided(known.outcome, known.ended.failure);
  };
  known.outcome = begin((failure) => {
    known.ended = { failure };
    finish();
  });
  finish();
}

/** The delay of a RetryLater, which replaces that of the policy. The policy still limits the attempts. */
const waitAskedBy = (error: unknown): number | undefined => (error instanceof RetryLater ? error.delay : undefined);
