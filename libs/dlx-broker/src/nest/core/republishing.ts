import { AsyncResource } from 'node:async_hooks';
import type { BackendDelivery } from '../../backends/index.js';
import { emptyTable } from '../../engine/message/index.js';
import { doNothing } from '../../platform/index.js';
import { type LeftOut, retryIn, retryOrPark, type RetryOutcome, waitOf, type WaitQueues } from '../retry/index.js';
import type { DeliveryTimers } from './delivery-timers.js';
import { attemptBy, type FailureLog, textOf } from './failure-log.js';
import { endsAlone, type Failed, type Hold, lotOf } from './handler.js';
import { afterOutage } from './holding.js';
import { askedHeaders, Park, RetryLater } from './outcomes.js';
import type { Reports } from './reports.js';

/** The first pause before another try to republish a message, in milliseconds. It doubles each time. */
export const shortestPause = 1_000;

/** The longest pause, after nine minutes in all. Then the message returns to its queue: brokers limit the time of a delivery. */
const longestPause = 256_000;

/** What became of a message: it was retried, parked or held. */
type Outcome = RetryOutcome | { readonly kind: 'held'; readonly delay: number; readonly attempt: number };

/** Called when the broker has the successor of a message, or refused it. @param outcome undefined if nothing is reported */
type Moved = (outcome: Outcome | undefined, failure?: Error, leftOut?: LeftOut) => void;

/** Publishes the successor of a message. */
type Move = (moved: Moved) => void;

/** The deliveries whose handlers have ended, and that are settled as soon as the broker has a successor or a reply. */
export class PendingDeliveries {
  readonly #all = new Set<BackendDelivery>();
  readonly #waiting: (() => void)[] = [];

  add(delivery: BackendDelivery): void {
    this.#all.add(delivery);
  }

  delete(delivery: BackendDelivery): void {
    this.#all.delete(delivery);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when no delivery of a queue is being settled. */
  async idle(queue: string): Promise<void> {
    const isOf = (delivery: BackendDelivery): boolean => delivery.queue === queue && !delivery.settled;
    while ([...this.#all].some(isOf)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

/** Republishes messages to a wait queue or the parking lot, reports each outcome, and tries again while the broker refuses them. */
export class Republishing {
  /** Queues that dead-letter rejected messages into the wait queue of their policy. */
  rejecting: ReadonlySet<string> = new Set();

  constructor(
    private readonly waitQueues: WaitQueues,
    private readonly reports: Reports,
    private readonly log: FailureLog,
    private readonly timers: DeliveryTimers,
    private readonly pending: PendingDeliveries,
  ) {}

  /** Retries or parks a message, by its policy or by the exception of its handler. @param isLast true: it is parked */
  retry(failed: Failed, isLast = failed.error instanceof Park): void {
    const { delivery, planned, error } = failed;
    this.#move(failed, (moved) => {
      const own = this.reports.headers(failed, 'retry');
      const { headers, failingSince } = afterOutage(failed, own, this.waitQueues.now());
      const fingerprint = this.reports.fingerprint(failed);
      const byReject = this.rejecting.has(delivery.queue) && askedHeaders(error) === undefined; // a reject of AMQP has no headers
      const lot = lotOf(planned.handler, delivery.queue);
      const failure = { error, headers, failingSince, fingerprint, byReject, asked: waitAskedBy(error), isLast, lot };
      retryOrPark(delivery, planned.retry, failure, this.#waitsOf(failed), moved);
    });
  }

  /** Sends a message that is held to its queue after a wait, as the same attempt. */
  hold(failed: Failed, hold: Hold): void {
    const { delivery, isUnhandled } = failed;
    const outcome = { kind: 'held', delay: hold.wait, attempt: attemptBy(failed) } as const;
    this.#move(failed, (moved) => {
      const headers = isUnhandled === true ? emptyTable : this.reports.headers(failed, 'hold');
      const waits = this.#waitsOf(failed);
      const wait = waitOf(delivery, hold.wait, waits);
      const noted = afterOutage(failed, headers, this.waitQueues.now(), { ...hold, wait });
      const held = { ...noted, isPostponed: true };
      retryIn(delivery, wait, waits, held, (...ended) => moved(outcome, ...ended));
    });
  }

  /** Sends a message to its queue after a delay, as the same attempt. No handler had it. */
  postpone(failed: Failed, delay: number): void {
    const { delivery } = failed;
    this.#move(failed, (moved) => {
      const waits = this.#waitsOf(failed);
      const wait = waitOf(delivery, delay, waits);
      retryIn(delivery, wait, waits, { isPostponed: true }, (...ended) => moved(undefined, ...ended));
    });
  }

  #waitsOf({ planned }: Failed): WaitQueues {
    return endsAlone(planned.handler) ? this.waitQueues.leased : this.waitQueues;
  }

  #move(failed: Failed, move: Move, pause = shortestPause): void {
    const { delivery, handling, filtered } = failed;
    const { since } = this.reports;
    const moved: Moved = (outcome, failure, leftOut) => {
      this.pending.delete(delivery);
      if (failure === undefined && leftOut !== undefined) this.log.shortened(failed, leftOut);
      if (outcome !== undefined) this.#report(failed, outcome, since, failure);
      if (failure !== undefined) this.#tryLater(failed, failure, move, pause);
      else if (outcome?.kind === 'parked') handling?.replies?.error(filtered, doNothing);
    };
    this.pending.add(delivery);
    try {
      inOwnContext(move, moved);
    } catch (fault) {
      this.pending.delete(delivery);
      this.#tryLater(failed, fault, move, pause);
    }
  }

  /** Reports a move. All messages that fail come here: the literal is made once, without a spread. */
  #report(failed: Failed, outcome: Outcome, since: number | undefined, failure: Error | undefined): void {
    const { kind, attempt } = outcome;
    const isParked = kind === 'parked';
    this.reports.settled(failed, {
      kind,
      error: failed.error,
      to: isParked ? outcome.queue : failed.planned.queue,
      attempt,
      delay: isParked ? undefined : outcome.delay,
      fate: isParked ? fateOf(outcome) : undefined,
      fingerprint: isParked ? this.reports.fingerprint(failed) : undefined,
      since,
      failure,
    });
  }

  /**
   * The broker refused the successor in the wait queue or the parking lot. A reject could lose the message, and a requeue would not
   * count as an attempt. So the message stays unacknowledged, and the publish is tried again after a pause, which grows. After nine
   * minutes without success the message returns to its queue.
   */
  #tryLater(failed: Failed, failure: unknown, move: Move, pause: number): void {
    const { delivery, handling } = failed;
    if (delivery.settled) {
      this.reports.settled(failed, { kind: 'requeued', error: failure });
      // Its channel has ended, or the disk of the broker failed after the message was replaced.
      return this.log.trouble(failed, 'may not have been republished, and cannot be settled any more', failure);
    }
    const isOver = pause > longestPause;
    const next = isOver ? 'returns to its queue' : `stays unacknowledged and is republished again in ${pause} ms`;
    this.log.trouble(failed, `cannot be republished and ${next}`, failure);
    if (isOver) {
      this.reports.settled(failed, { kind: 'requeued', error: failure });
      // What no handler had must not count for a delivery limit.
      return handling === undefined ? delivery.giveBack() : delivery.requeue();
    }
    const isSettled = (): boolean => delivery.settled;
    this.timers.after(pause, isSettled, () => {
      if (!isSettled()) this.#move(failed, move, pause * 2); // a settled message has returned to its queue
    });
  }
}

/**
 * Calls `moved` in the async context of the message, after `move` has returned. The broker may answer within `move` (embedded broker), or
 * later (RabbitMQ, a disk), in the callback of a socket or disk.
 */
function inOwnContext(move: Move, moved: Moved): void {
  let own: AsyncResource | undefined;
  let ended: (() => void) | undefined;
  move((outcome, failure, leftOut) => {
    ended = () => moved(outcome, failure, leftOut);
    own?.runInAsyncScope(ended);
  });
  if (ended !== undefined) ended();
  else own = new AsyncResource('DlxDecision');
}

function fateOf({ queue, why, fault }: RetryOutcome & { readonly kind: 'parked' }): string {
  const fate = `parked in '${queue}'`;
  if (why === 'headers') return `${fate}, because its headers have no room for another attempt`;
  return why === 'policy' ? `${fate}, because its policy failed (${textOf(fault)})` : fate;
}

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
