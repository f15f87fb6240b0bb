import { AsyncResource } from 'node:async_hooks';
import type { BackendDelivery } from '../../backends/index.js';
import { emptyTable } from '../../engine/message/index.js';
import type { Failure, LeftOut, RetryOutcome } from '../retry/index.js';
import { doNothing } from '../../platform/index.js';
import type { Hold } from '../features/circuit/circuit.js';
import type { Holding } from '../features/circuit/holding.js';
import type { DeliveryTimers } from './delivery-timers.js';
import type { FailureNotes } from '../features/error-history/failure-notes.js';
import { answer, attemptBy, type Failed, type Taken } from './failed-message.js';
import { type FailureLog, textOf } from './failure-log.js';
import type { HandlerCounts } from './handler-counts.js';
import type { HandlerMeter } from './handler-meter.js';
import type { PlannedHandler } from './handler.js';
import type { OutcomeEvents } from './outcome-events.js';
import type { Decided, Retrying } from './retrying.js';
import type { Settling } from './settling.js';
import { errorOf, type TracedOutcomes, withSpan } from './traced-outcomes.js';

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
  readonly settling: Settling;
  readonly events: OutcomeEvents;
  /** The headers that describe failures. */
  readonly notes: FailureNotes;
}

/**
 * Republishes messages to a wait queue or the parking lot, counts and reports each outcome, and tries again while the broker refuses
 * them.
 */
export class Republishing {
  constructor(
    private readonly shared: SettlementState,
    private readonly retrying: Retrying,
    private readonly holding: Holding,
    private readonly log: FailureLog,
    private readonly traces: TracedOutcomes | undefined,
  ) {}

  /** Retries or parks a message, by its policy or by the exception of its handler. */
  retry(failed: Failed, pause = shortestPause): void {
    const { delivery, planned, error } = failed;
    const again = (next: number): void => this.retry(failed, next);
    try {
      const byReject = this.shared.rejecting.has(delivery.queue);
      const { headers, fingerprint } = this.#noted(failed);
      const failure = { error, headers, fingerprint, byReject, ...this.holding.failed(failed, headers) };
      this.retrying.decide(delivery, planned.retry, failure, this.#decided(failed, pause, again));
    } catch (fault) {
      this.shared.settling.end(delivery);
      this.#tryLater(failed, fault, pause, again);
    }
  }

  /** Sends a message to its parking lot. */
  park(failed: Failed, pause = shortestPause): void {
    const { delivery, planned, error } = failed;
    const decided = this.#decided(failed, pause, (next) => this.park(failed, next));
    this.retrying.park(delivery, planned.retry, { error, ...this.#noted(failed) }, decided);
  }

  /** Holds a message, see {@link Holding}. */
  hold(failed: Failed, hold: Hold, pause = shortestPause): void {
    const { delivery, planned, span, error, isUnhandled } = failed;
    const own = new AsyncResource('DlxDecision');
    const since = this.traces?.now() ?? 0;
    this.shared.settling.begin(delivery);
    const held = (failure?: Error, leftOut?: LeftOut): void => {
      this.shared.settling.end(delivery);
      this.traces?.held(failed, hold.wait, since, failure);
      if (failure !== undefined) {
        return this.#tryLater(failed, failure, pause, (next) => this.hold(failed, hold, next));
      }
      if (leftOut !== undefined) this.log.shortened(failed, leftOut);
      this.shared.counts.held++;
      if (this.shared.meter !== undefined) this.shared.meter.of(planned).held++;
      const attempt = attemptBy(failed);
      this.log.held(failed, attempt, hold.wait, error);
      this.shared.events.emit('held', delivery, { handler: planned.handler.origin, attempt, delay: hold.wait, error });
    };
    const headers = isUnhandled === true ? emptyTable : withSpan(this.shared.notes.ofError(error), span); // no history: it is no attempt
    this.holding.hold(failed, hold, headers, (...ended) => own.runInAsyncScope(held, undefined, ...ended));
  }

  /** Sends a message to its queue after a delay, as the same attempt. */
  postpone(delivery: BackendDelivery, planned: PlannedHandler, delay: number, pause = shortestPause): void {
    this.shared.settling.begin(delivery);
    this.retrying.postpone(delivery, delay, (failure, leftOut) => {
      this.shared.settling.end(delivery);
      if (leftOut !== undefined) this.log.shortened({ delivery, planned }, leftOut);
      if (failure === undefined) return;
      this.#tryLater({ delivery, planned }, failure, pause, (next) => this.postpone(delivery, planned, delay, next));
    });
  }

  /** Reports a decision. */
  #decided(failed: Failed, pause: number, again: Again): Decided {
    const since = this.traces?.now() ?? 0;
    this.shared.settling.begin(failed.delivery);
    return (outcome, failure, leftOut) => {
      this.shared.settling.end(failed.delivery);
      this.traces?.replaced(failed, outcome, since, failure);
      if (failure !== undefined) return this.#tryLater(failed, failure, pause, again);
      if (leftOut !== undefined) this.log.shortened(failed, leftOut);
      this.#retried(outcome, failed);
      if (outcome.kind === 'parked') answer(failed, doNothing);
    };
  }

  #retried(outcome: RetryOutcome, failed: Failed): void {
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
      ...this.shared.notes.group(kind, failed, this.shared.events),
    });
  }

  /**
   * The broker refused the successor in the wait queue or the parking lot. A reject could lose the message, and a requeue would not
   * count as an attempt. So the message stays unacknowledged, and the publish is tried again after a pause, which grows. After nine
   * minutes without success the message returns to its queue.
   */
  #tryLater(taken: Taken, failure: unknown, pause: number, again: Again): void {
    if (taken.delivery.settled) {
      taken.span?.end('requeued', errorOf(failure));
      // Its channel has ended, or the disk of the broker failed after the message was replaced.
      return this.log.trouble(taken, 'may not have been republished, and cannot be settled any more', failure);
    }
    const isOver = pause > longestPause;
    const next = isOver ? 'returns to its queue' : `stays unacknowledged and is republished again in ${pause} ms`;
    this.log.trouble(taken, `cannot be republished and ${next}`, failure);
    if (isOver) {
      taken.span?.end('requeued', errorOf(failure));
      return taken.delivery.requeue();
    }
    const isSettled = (): boolean => taken.delivery.settled;
    this.shared.timers.after(pause, isSettled, () => {
      if (!isSettled()) again(pause * 2); // a settled message has returned to its queue
    });
  }

  /** The headers of a failure, and the fingerprint of a message that is parked. */
  #noted(failed: Failed): Pick<Failure, 'headers' | 'fingerprint'> {
    const headers = withSpan(this.shared.notes.headers(failed), failed.span);
    return { headers, fingerprint: () => this.shared.notes.fingerprint(failed) };
  }
}

function fateOf(outcome: RetryOutcome & { readonly kind: 'parked' }): string {
  const fate = `parked in '${outcome.queue}'`;
  if (outcome.why === 'headers') return `${fate}, because its headers have no room for another attempt`;
  return outcome.why === 'policy' ? `${fate}, because its policy failed (${textOf(outcome.fault)})` : fate;
}
