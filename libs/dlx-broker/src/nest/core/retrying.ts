import { AsyncResource } from 'node:async_hooks';
import { attemptOf } from '../../platform/history/index.js';
import type { FieldTable } from '../../engine/message/index.js';
import {
  type Failure,
  type LeftOut,
  park,
  type Republished,
  retryIn,
  retryInOrPark,
  retryOrPark,
  type RetryOutcome,
  type RetryPlan,
  waitOf,
  type WaitQueues,
} from '../retry/index.js';
import { type BackendDelivery } from '../../backends/index.js';

import { Park, RetryLater } from './outcomes.js';

/** Called in the async context of the message, when the broker has the successor or refused it. @param leftOut headers that the successor lacks */
export type Decided = (outcome: RetryOutcome, failure: Error | undefined, leftOut?: LeftOut) => void;

/** The headers of a message that is held, and since when it fails without the outages. */
interface HeldFacts {
  readonly headers: FieldTable;
  readonly failingSince: number | undefined;
}

/** Publishes the successor of a failed delivery: to a wait queue, or to the parking lot. */
export class Retrying {
  constructor(private readonly waitQueues: WaitQueues) {}

  /** Retries or parks, by the policy or by the exception of the handler. */
  decide(delivery: BackendDelivery, plan: RetryPlan | undefined, failure: Failure, decided: Decided): void {
    const { error } = failure;
    if (error instanceof Park) return this.park(delivery, plan, failure, decided);
    together(decided, (done) =>
      plan === undefined
        ? this.#later(delivery, waitAskedBy(error) ?? 0, failure, done)
        : retryOrPark(delivery, plan, withWait(failure, waitAskedBy(error)), this.waitQueues, done),
    );
  }

  /** Sends the delivery to the parking lot of its policy, or of its queue. */
  park(delivery: BackendDelivery, plan: RetryPlan | undefined, failure: Failure, decided: Decided): void {
    const { headers, fingerprint } = failure;
    const queue = plan?.queue ?? delivery.queue;
    const lot = plan?.parkingLot ?? lotOf(queue);
    const attempt = attemptOf(delivery.message, queue);
    together(decided, (done) => {
      park(delivery, lot, this.waitQueues, { queue, attempt, headers, fingerprint: fingerprint?.() }, done);
      return { kind: 'parked', queue: lot, attempt, why: 'asked' };
    });
  }

  /** Sends the delivery to its queue after a delay, as the same attempt. */
  postpone(delivery: BackendDelivery, delay: number, done: Republished): void {
    const attempt = attemptOf(delivery.message, delivery.queue);
    retryIn(delivery, waitOf(delivery, delay, this.waitQueues), this.waitQueues, { attempt, isPostponed: true }, done);
  }

  /** The nearest wait that has a wait queue, or may have one. */
  nearest(delivery: BackendDelivery, wait: number): number {
    return waitOf(delivery, wait, this.waitQueues);
  }

  /** Sends the delivery to its queue after a wait, as the same attempt, because a service is away. */
  hold(delivery: BackendDelivery, wait: number, { headers, failingSince }: HeldFacts, done: Republished): void {
    const attempt = attemptOf(delivery.message, delivery.queue);
    retryIn(delivery, wait, this.waitQueues, { attempt, headers, failingSince, isPostponed: true }, done);
  }

  /** Retries after a delay, without a policy. A message without room for the number of its attempt is parked. */
  #later(delivery: BackendDelivery, asked: number, { headers, fingerprint }: Failure, done: Republished): RetryOutcome {
    const { queue } = delivery;
    const attempt = attemptOf(delivery.message, queue);
    const delay = asked === 0 ? 0 : waitOf(delivery, asked, this.waitQueues);
    const failed = { queue, attempt, headers, fingerprint };
    retryInOrPark(delivery, delay, lotOf(queue), this.waitQueues, failed, done);
    return { kind: 'retried', delay, attempt };
  }
}

/** The parking lot of a queue without a policy. */
const lotOf = (queue: string): string => `${queue}.parked`;

/**
 * Calls `decided` with both the outcome and the end. The end may come first (embedded broker) or later (RabbitMQ, a disk): in a callback
 * of a socket or disk, so `decided` is called in the async context of the message.
 */
function together(decided: Decided, begin: (done: Republished) => RetryOutcome): void {
  const known: { outcome?: RetryOutcome; ended?: Parameters<Republished>; own?: AsyncResource } = {};
  const finish = (): void => {
    const { outcome, ended } = known;
    if (outcome === undefined || ended === undefined) return;
    const [failure, leftOut, instead = outcome] = ended;
    decided(instead, failure, leftOut);
  };
  known.outcome = begin((...ended) => {
    known.ended = ended;
    known.own?.runInAsyncScope(finish);
  });
  if (known.ended !== undefined) finish();
  else known.own = new AsyncResource('DlxDecision');
}

/** Not `{ ...failure, asked }`: see `withHeaders` of the messages. */
const withWait = (
  { error, headers, fingerprint, byReject, failingSince }: Failure,
  asked: number | undefined,
): Failure => ({
  error,
  headers,
  fingerprint,
  byReject,
  asked,
  failingSince,
});

/**
 * The delay of a RetryLater, which replaces that of the policy. The policy still limits the attempts. A delay that cannot be read is none.
 */
export function waitAskedBy(error: unknown): number | undefined {
  try {
    return error instanceof RetryLater ? error.delay : undefined;
  } catch {
    return undefined;
  }
}
