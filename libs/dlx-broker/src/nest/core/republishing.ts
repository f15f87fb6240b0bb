import { AsyncResource } from 'node:async_hooks';
import type { BackendDelivery } from '../../backends/index.js';
import { emptyTable } from '../../engine/message/index.js';
import { attemptOf } from '../../platform/history/index.js';
import { doNothing } from '../../platform/index.js';
import type { Failure, LeftOut, RetryOutcome } from '../retry/index.js';
import type { DeliveryTimers } from './delivery-timers.js';
import { type FailureLog, textOf } from './failure-log.js';
import { type Followers, timeOfMove } from './followers.js';
import type { HandlerCounts } from './handler-counts.js';
import type { HandlerMeter } from './handler-meter.js';
import type { Failed, Hold, Taken, TakenBy } from './handler.js';
import { afterOutage } from './holding.js';
import type { OutcomeEvents } from './outcome-events.js';
import type { Decided, Retrying } from './retrying.js';

/** The first pause before another try to republish a message, in milliseconds. It doubles each time. */
export const shortestPause = 1_000;

/** The longest pause, after nine minutes in all. Then the message returns to its queue: brokers limit the time of a delivery. */
const longestPause = 256_000;

/** Tries to republish again. @param pause the pause before the next try */
type Again = (pause: number) => void;

/** What the republishing shares with the settlement. */
export interface SettlementState {
  readonly counts: HandlerCounts;
  /** Queues that dead-letter rejected messages into the wait queue of their policy. */
  readonly rejecting: ReadonlySet<string>;
  /** Measures the handlers; undefined while metrics are off. */
  readonly meter: HandlerMeter | undefined;
  /** The timers of unsettled messages, those of attempts included. */
  readonly timers: DeliveryTimers;
  readonly events: OutcomeEvents;
  readonly followers: Followers;
  /** The settlement of a message waits for the broker. */
  isSettling(delivery: BackendDelivery): void;
  hasSettled(delivery: BackendDelivery): void;
}

/**
 * Republishes messages to a wait queue or the parking lot, counts and reports each outcome, and tries again while the broker refuses
 * them.
 */
export class Republishing {
  constructor(
    private readonly shared: SettlementState,
    private readonly retrying: Retrying,
    private readonly log: FailureLog,
    /** Milliseconds since 1970. */
    private readonly now: () => number,
  ) {}

  /** Retries or parks a message, by its policy or by the exception of its handler. */
  retry(failed: TakenBy<Failed>, pause = shortestPause): void {
    const { delivery, planned, error } = failed;
    const { followers } = this.shared;
    const again = (next: number): void => this.retry(failed, next);
    try {
      const byReject = this.shared.rejecting.has(delivery.queue);
      const { headers, failingSince } = afterOutage(failed, followers.headers(failed, 'retry'), this.now());
      const failure = { error, headers, fingerprint: followers.fingerprint(failed), byReject, failingSince };
      this.retrying.decide(delivery, planned.retry, failure, this.#decided(failed, pause, again));
    } catch (fault) {
      this.shared.hasSettled(delivery);
      this.#tryLater(failed, fault, pause, again);
    }
  }

  /** Sends a message to its parking lot. */
  park(failed: TakenBy<Failed>, pause = shortestPause): void {
    const { delivery, planned, error } = failed;
    const { followers } = this.shared;
    const again = (next: number): void => this.park(failed, next);
    try {
      const headers = followers.headers(failed, 'park');
      const failure: Failure = { error, headers, fingerprint: followers.fingerprint(failed) };
      this.retrying.park(delivery, planned.retry, failure, this.#decided(failed, pause, again));
    } catch (fault) {
      this.shared.hasSettled(delivery);
      this.#tryLater(failed, fault, pause, again);
    }
  }

  /** Publishes a message that is held to a wait queue. */
  hold(failed: TakenBy<Failed>, hold: Hold, pause = shortestPause): void {
    const { delivery, planned, error, isUnhandled } = failed;
    const { followers } = this.shared;
    const own = new AsyncResource('DlxDecision');
    const since = followers.any ? timeOfMove() : undefined;
    this.shared.isSettling(delivery);
    const held = (failure?: Error, leftOut?: LeftOut): void => {
      this.shared.hasSettled(delivery);
      const attempt = attemptBy(failed);
      followers.settled(failed, { kind: 'held', error, to: planned.queue, attempt, delay: hold.wait, since, failure });
      if (failure !== undefined) {
        return this.#tryLater(failed, failure, pause, (next) => this.hold(failed, hold, next));
      }
      if (leftOut !== undefined) this.log.shortened(failed, leftOut);
      this.shared.counts.held++;
      if (this.shared.meter !== undefined) this.shared.meter.of(planned).held++;
      this.log.held(failed, attempt, hold.wait, error);
      this.shared.events.emit('held', delivery, { handler: planned.handler.origin, attempt, delay: hold.wait, error });
    };
    const headers = isUnhandled === true ? emptyTable : followers.headers(failed, 'hold');
    const wait = this.retrying.nearest(delivery, hold.wait);
    const after = afterOutage(failed, headers, this.now(), { ...hold, wait });
    this.retrying.hold(delivery, wait, after, (...ended) => own.runInAsyncScope(held, undefined, ...ended));
  }

  /** Sends a message to its queue after a delay, as the same attempt. */
  postpone({ delivery, planned }: TakenBy, delay: number, pause = shortestPause): void {
    this.shared.isSettling(delivery);
    this.retrying.postpone(delivery, delay, (failure, leftOut) => {
      this.shared.hasSettled(delivery);
      if (leftOut !== undefined) this.log.shortened({ delivery, planned }, leftOut);
      if (failure === undefined) return;
      this.#tryLater({ delivery, planned }, failure, pause, (next) =>
        this.postpone({ delivery, planned }, delay, next),
      );
    });
  }

  /** Reports a decision. */
  #decided(failed: TakenBy<Failed>, pause: number, again: Again): Decided {
    const { planned, error, delivery } = failed;
    const { followers } = this.shared;
    const since = followers.any ? timeOfMove() : undefined;
    this.shared.isSettling(delivery);
    return (outcome, failure, leftOut) => {
      this.shared.hasSettled(delivery);
      if (followers.any) {
        const { kind, attempt } = outcome;
        const moved = kind === 'parked' ? { to: outcome.queue } : { to: planned.queue, delay: outcome.delay };
        followers.settled(failed, { kind, error, attempt, since, failure, ...moved });
      }
      if (failure !== undefined) return this.#tryLater(failed, failure, pause, again);
      if (leftOut !== undefined) this.log.shortened(failed, leftOut);
      this.#retried(outcome, failed);
      if (outcome.kind === 'parked') answer(failed, doNothing);
    };
  }

  #retried(outcome: RetryOutcome, failed: TakenBy<Failed>): void {
    const { delivery, planned, error } = failed;
    const { kind, attempt } = outcome;
    this.shared.counts[kind]++;
    if (this.shared.meter !== undefined) this.shared.meter.of(planned)[kind]++;
    if (kind === 'retried') this.log.again(failed, attempt, outcome.delay, error);
    else if (failed.isUnhandled === true) this.log.unhandled(delivery.queue, fateOf(outcome));
    else this.log.last(failed, attempt, fateOf(outcome), error);
    if (!this.shared.events.isWanted(kind)) return;
    const detail = kind === 'parked' ? { to: outcome.queue } : { delay: outcome.delay };
    this.shared.events.emit(kind, delivery, {
      handler: planned.handler.origin,
      attempt,
      error,
      ...detail,
      ...(kind === 'parked' ? this.shared.followers.grouped(failed) : {}),
    });
  }

  /**
   * The broker refused the successor in the wait queue or the parking lot. A reject could lose the message, and a requeue would not
   * count as an attempt. So the message stays unacknowledged, and the publish is tried again after a pause, which grows. After nine
   * minutes without success the message returns to its queue.
   */
  #tryLater(taken: TakenBy, failure: unknown, pause: number, again: Again): void {
    if (taken.delivery.settled) {
      this.shared.followers.settled(taken, { kind: 'requeued', error: failure });
      // Its channel has ended, or the disk of the broker failed after the message was replaced.
      return this.log.trouble(taken, 'may not have been republished, and cannot be settled any more', failure);
    }
    const isOver = pause > longestPause;
    const next = isOver ? 'returns to its queue' : `stays unacknowledged and is republished again in ${pause} ms`;
    this.log.trouble(taken, `cannot be republished and ${next}`, failure);
    if (isOver) {
      this.shared.followers.settled(taken, { kind: 'requeued', error: failure });
      // What no handler had must not count for a delivery limit.
      return taken.handling === undefined ? taken.delivery.giveBack() : taken.delivery.requeue();
    }
    const isSettled = (): boolean => taken.delivery.settled;
    this.shared.timers.after(pause, isSettled, () => {
      if (!isSettled()) again(pause * 2); // a settled message has returned to its queue
    });
  }
}

function fateOf(outcome: RetryOutcome & { readonly kind: 'parked' }): string {
  const fate = `parked in '${outcome.queue}'`;
  if (outcome.why === 'headers') return `${fate}, because its headers have no room for another attempt`;
  return outcome.why === 'policy' ? `${fate}, because its policy failed (${textOf(outcome.fault)})` : fate;
}

/** The number of the attempt that failed. */
export const attemptBy = ({ delivery }: Taken): number => attemptOf(delivery.message, delivery.queue);

/** Sends the error to the client of a request, and then settles the message. */
export function answer({ handling, filtered }: Failed, settled: () => void): void {
  if (handling?.replies === undefined) settled();
  else handling.replies.error(filtered, settled);
}
