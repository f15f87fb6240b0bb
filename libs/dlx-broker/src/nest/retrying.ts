import {
  attemptOf,
  park,
  retryIn,
  retryOrPark,
  type BackendDelivery,
  type Done,
  type Failure,
  type RetryOutcome,
  type WaitRooms,
} from '../backend/index.js';
import type { RetryPlan } from '../topology/index.js';
import { Park, RetryLater } from './outcomes.js';

/** Called once it is decided, and the broker has the successor or could not take it. */
export type Decided = (outcome: RetryOutcome, failure: Error | undefined) => void;

/** Gives a failed delivery a successor: in a wait queue, or in the parking lot. */
export class Retrying {
  constructor(private readonly rooms: WaitRooms) {}

  /** As the policy says, or as the handler does by what it threw. */
  decide(delivery: BackendDelivery, plan: RetryPlan | undefined, failure: Failure, decided: Decided): void {
    const { error } = failure;
    let outcome: RetryOutcome | undefined;
    let ended: { readonly failure: Error | undefined } | undefined;
    // The end may come before the outcome is returned (embedded), or long after it (a broker elsewhere).
    const finish = (): void => {
      if (outcome !== undefined && ended !== undefined) decided(outcome, ended.failure);
    };
    const done: Done = (refusal) => {
      ended = { failure: refusal };
      finish();
    };
    if (error instanceof Park || plan === undefined) outcome = this.#asAsked(delivery, plan, failure, done);
    else outcome = retryOrPark(delivery, asTold(plan, error), failure, this.rooms, done);
    finish();
  }

  /** Without a policy, or against it. */
  #asAsked(delivery: BackendDelivery, plan: RetryPlan | undefined, failure: Failure, done: Done): RetryOutcome {
    const queue = plan?.queue ?? delivery.queue;
    const attempt = attemptOf(delivery.message, queue);
    const { error, headers } = failure;
    const later = error instanceof Park ? undefined : laterOf(error);
    if (later === undefined) {
      const lot = plan?.parkingLot ?? `${queue}.parked`;
      park(delivery, lot, this.rooms, { queue, attempt, headers }, done);
      return { kind: 'parked', queue: lot, attempt, why: 'asked' };
    }
    const delay = later === 0 ? 0 : this.rooms.nearest(later);
    retryIn(delivery, delay, this.rooms, { queue, attempt: attempt + 1, headers }, done);
    return { kind: 'retried', delay, attempt };
  }
}

const laterOf = (error: unknown): number | undefined => (error instanceof RetryLater ? error.delay : undefined);

/** The handler knows better than the policy when to try again; how often is still the policy's. */
function asTold(plan: RetryPlan, error: unknown): RetryPlan {
  const delay = laterOf(error);
  return delay === undefined ? plan : { ...plan, retries: () => true, delayBefore: () => delay };
}
