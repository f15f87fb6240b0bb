import {
  type Address,
  deathsOf,
  type FieldTable,
  longstr,
  type Message,
  type RecordedOrigin,
  successorProperties,
} from '../../engine/message/index.js';
import {
  attemptOf,
  errorHeaders,
  failingSince,
  fitting,
  headersForRedrive,
  headersForRetry,
  isQueueItself,
  originOf,
  publishedTo,
  recordedAddressOf,
} from '../../platform/history/index.js';
import { decideRetry, type ParkedFor } from './decision.js';
import { parkingLotOf } from './parking-lot.js';
import { waitQueueName } from './wait-queue-names.js';
import type { RetryPlan } from './policy.js';
import { type BackendDelivery, type Done, type Publication } from '../../backends/index.js';
import { doNothing } from '../../platform/index.js';
import { shown } from '../../platform/options/index.js';

import { InHandDelivery } from './in-hand-delivery.js';
import { forParking, forRetry, isUnsendable, type LeftOut, replaceShortened } from './shorter-headers.js';
import type { WaitQueues } from './wait-queues.js';

/*
 * Every function here replaces a delivery by a successor (`replaceBy`). The delivery is acked only when the broker took
 * responsibility for the successor. If the broker refused or returned the successor, the delivery stays unsettled, `done` gets
 * the failure, and the caller settles the delivery in another way. Nothing is lost. After a crash in between both exist.
 */

/** An attempt of a message, and what the headers of its successor say of it. */
export interface Attempted {
  /** The work queue to which the message returns. Default: the queue of the delivery. */
  readonly queue?: string;
  /** The number of this attempt. Default: counted from the message. */
  readonly attempt?: number;
  /** Further headers. They describe an error: `dlx-error-class`, `dlx-error-message`, `dlx-error-stack`. */
  readonly headers?: FieldTable;
  /** Makes the fingerprint of a message that is parked. Default: calculated from its error. */
  readonly fingerprint?: (() => string) | undefined;
  /** When the message failed for the first time, without the outages since. Default: the time in its headers, or now. */
  readonly failingSince?: number | undefined;
  /** True if the message did not fail: it comes later, as the same attempt. */
  readonly isPostponed?: boolean;
}

/** Why a handler failed, and what is asked for. */
export interface Failure extends Pick<Attempted, 'fingerprint' | 'failingSince'> {
  readonly error: unknown;
  /** The headers that describe the error. */
  readonly headers: FieldTable;
  /** True when the queue dead-letters rejected messages into the wait queue of its policy. */
  readonly byReject?: boolean | undefined;
  /** The wait that the handler asked for, in milliseconds. */
  readonly asked?: number | undefined;
  /** The parking lot without a plan. Default: the name of the queue and `.parked`. */
  readonly lot?: string;
  /** True if no further attempt is asked for: the message is parked. */
  readonly isLast?: boolean;
}

/** Whether a failed delivery was retried or parked. `attempt` is the number of the failed attempt. */
export type RetryOutcome =
  | { readonly kind: 'retried'; readonly delay: number; readonly attempt: number }
  | {
      readonly kind: 'parked';
      readonly queue: string;
      readonly attempt: number;
      readonly why: ParkedFor;
      /** What a function of the policy threw, if `why` is `policy`. */
      readonly fault?: unknown;
    };

/** Called when a republish has ended. @param leftOut headers that the successor lacks */
export type Republished = (failure?: Error, leftOut?: LeftOut) => void;

/** Called when the broker has the successor of a failed delivery, or refused it. */
export type Decided = (outcome: RetryOutcome, ...ended: Parameters<Republished>) => void;

/** The message has no origin: it was never dead-lettered, retried or parked. */
export class UnknownOriginError extends Error {
  override readonly name = 'UnknownOriginError';

  constructor(queue: string) {
    super(`a message in queue '${queue}' cannot be redriven: nothing in it tells where it came from; name a target`);
  }
}

/** Only headers name the origin of the message, and its publisher may have written them. */
export class UnprovenOriginError extends Error {
  override readonly name = 'UnprovenOriginError';

  constructor(
    queue: string,
    /** The origin that the headers name. */
    readonly claimed: Address,
  ) {
    super(
      `a message in queue '${queue}' is not redriven to exchange '${claimed.exchange}' with routing key ` +
        `'${claimed.routingKey}': only its headers tell of that, which its publisher may have written, and the broker ` +
        'recorded no origin; name a target',
    );
  }
}

/**
 * Sends a failed delivery through a wait queue back to its work queue, or parks it, as {@link decideRetry} says. A message that has no
 * room for the number of its attempt is parked: it would come back for ever.
 * @param plan its topology has to be declared; undefined: any number of attempts, after the wait that the handler asked for
 */
export function retryOrPark(
  delivery: BackendDelivery,
  plan: RetryPlan | undefined,
  failure: Failure,
  waitQueues: WaitQueues,
  done?: Decided,
): void {
  const { message } = delivery;
  const { queue, parkingLot = failure.lot ?? parkingLotOf(queue) } = plan ?? { queue: delivery.queue };
  const { error, headers, fingerprint, asked, isLast, failingSince: since = failingSince(message, queue) } = failure;
  const attempt = attemptOf(message, queue);
  const attempted = { queue, attempt, headers, fingerprint, failingSince: since };
  const parkFor = (why: ParkedFor, fault?: unknown): void => {
    const all = why === 'policy' ? { ...attempted, headers: withFault(headers, fault) } : attempted;
    const outcome = { kind: 'parked', queue: parkingLot, attempt, why, ...(why === 'policy' && { fault }) } as const;
    park(delivery, parkingLot, waitQueues, all, (refusal, leftOut) => done?.(outcome, refusal, leftOut));
  };
  if (isLast === true) return parkFor('asked');
  const failed = { attempt, error, asked, now: waitQueues.now(), failingSince: since };
  const decision = decideRetry(plan, failed, (delay) => waitOf(delivery, delay, waitQueues));
  if (decision.kind === 'park') return parkFor(decision.why, decision.fault);
  const outcome = { kind: 'retried', delay: decision.delay, attempt } as const;
  const ended: Republished = (refusal, leftOut) => done?.(outcome, refusal, leftOut);
  // Without readable headers the attempts of a rejected message would not be counted, and it would return for ever.
  const byReject = failure.byReject === true && outcome.delay === plan?.only && delivery.isUndecodable !== true;
  if (byReject) return rejectInto(delivery, outcome.delay, waitQueues, headers, ended);
  retryIn(delivery, outcome.delay, waitQueues, attempted, (refusal, leftOut) => {
    if (isUnsendable(refusal) && !delivery.settled) parkFor('headers');
    else ended(refusal, leftOut);
  });
}

/** Adds the error of the policy to the headers, which have the error of the attempt. */
function withFault(headers: FieldTable, fault: unknown): FieldTable {
  return new Map(headers).set(errorHeaders.policy, longstr(textOf(fault).slice(0, longestFault)));
}

/** The text of a thrown value. Reading a property of the value may throw as well. */
function textOf(fault: unknown): string {
  try {
    return fault instanceof Error ? `${fault.name}: ${fault.message}` : shown(fault);
  } catch {
    return 'an error that cannot be shown';
  }
}

/** Characters of the policy's error that the header has. */
const longestFault = 1024;

/** Rejects the delivery, and its queue dead-letters it to the wait queue. The wait queue has to exist, or the message is lost. */
function rejectInto(
  delivery: BackendDelivery,
  delay: number,
  waitQueues: WaitQueues,
  headers: FieldTable,
  done: Republished,
): void {
  const reject = (): void => {
    delivery.reject(fitting(delivery.message.own.headers, headers)); // a backend that cannot add headers leaves them out
    done();
  };
  whenReady(waitQueues.wait(delay), reject, done);
}

/** A message that follows a delivery, and what its headers lack. */
interface Successor {
  readonly successor: Publication;
  readonly leftOut: LeftOut | undefined;
  /** The number of its attempt; of a parked message, that of the last one. */
  readonly attempt: number;
}

/** The message that follows a delivery: the next attempt, or the parked message. */
function successorOf(
  delivery: BackendDelivery,
  to: Address,
  options: Attempted,
  now: number,
  isParked: boolean,
): Successor {
  const { message } = delivery;
  const { queue = delivery.queue, failingSince, isPostponed = false } = options;
  const { attempt: made = attemptsMade(delivery, queue) } = options;
  const attempt = isParked || isPostponed ? made : made + 1;
  const failedAt = isPostponed ? undefined : now;
  const isRejected = queue === delivery.queue && !isPostponed;
  const from = firstAddressOf(delivery);
  const fingerprint = isParked ? options.fingerprint?.() : undefined;
  const progress = { queue, attempt, failedAt, failingSince, isRejected, isParked, fingerprint, from };
  const { headers, leftOut } = headersForRetry(message, progress, options.headers);
  return { successor: republication(message, to, headers, recordOf(message, queue)), leftOut, attempt };
}

/** The wait in place of the one that was asked for: see {@link WaitQueues.atLeast}, or the one that a delivery in hand allows. */
export const waitOf = (delivery: BackendDelivery, delay: number, waitQueues: WaitQueues): number =>
  delivery instanceof InHandDelivery ? delivery.waitOf(delay) : waitQueues.atLeast(delay);

/**
 * Sends a delivery to a work queue after a delay. The wait queue of that delay is declared if it may not exist. A delivery that waits
 * in hand stays unsettled instead.
 * @param delay whole milliseconds; 0 is at once, to the back of the queue
 */
export function retryIn(
  delivery: BackendDelivery,
  delay: number,
  waitQueues: WaitQueues,
  options: Attempted = {},
  done?: Republished,
): void {
  const { queue = delivery.queue } = options;
  const to = { exchange: delay === 0 ? '' : waitQueueName(delay, waitQueues.type), routingKey: queue };
  const { successor, leftOut } = successorOf(delivery, to, options, waitQueues.now(), false);
  if (delivery instanceof InHandDelivery) {
    delivery.hold(delay, successor);
    return done?.(undefined, leftOut);
  }
  const ready = (): Promise<void> | undefined => (delay === 0 ? undefined : waitQueues.wait(delay));
  const replace = (ended: Republished): void => replaceShortened(delivery, successor, forRetry, ended, leftOut);
  declaredFirst(delivery, { ready, forget: () => waitQueues.forget(delay) }, replace, done);
}

/**
 * Moves a delivery to a parking lot, where it stays until it is consumed, with headers about its failures. The parking lot is
 * declared if it does not exist.
 */
export function park(
  delivery: BackendDelivery,
  parkingLot: string,
  waitQueues: WaitQueues,
  options: Attempted = {},
  done?: Republished,
): void {
  const to = { exchange: '', routingKey: parkingLot };
  const { successor, leftOut, attempt } = successorOf(delivery, to, options, waitQueues.now(), true);
  const { queue = delivery.queue } = options;
  const { notices } = waitQueues;
  const parked = { delivery, successor, queue, lot: parkingLot, attempt, from: firstAddressOf(delivery) };
  const replacing = notices === undefined ? delivery : notices.parking(parked);
  const target = { ready: () => waitQueues.lot(parkingLot), forget: () => waitQueues.forgetLot(parkingLot) };
  const replace = (ended: Republished): void => replaceShortened(replacing, successor, forParking, ended, leftOut);
  declaredFirst(delivery, target, replace, done);
}

/** A queue that is declared when it is needed. */
interface Target {
  /** @returns undefined if it is there, as far as this process knows; otherwise a promise of its declaration */
  ready(): Promise<void> | undefined;
  /** Notes that it may be missing. */
  forget(): void;
}

/** Replaces a delivery when the queue of its successor is declared; once more if the queue was known and has been deleted since. */
function declaredFirst(
  delivery: BackendDelivery,
  target: Target,
  replace: (ended: Republished) => void,
  done: Republished | undefined,
): void {
  const ready = target.ready();
  const ended: Republished = (failure, ...more) => {
    if (failure === undefined) return done?.(failure, ...more);
    target.forget();
    const again = ready === undefined && isMissing(failure) && !delivery.settled ? target.ready() : undefined;
    if (again === undefined) done?.(failure, ...more);
    else whenReady(again, () => replace(done ?? doNothing), done);
  };
  whenReady(ready, () => replace(ended), ended);
}

/** True if the queue or the exchange is gone: the message was unroutable (312), or its exchange not found (404). */
const isMissing = (failure: Error): boolean => [312, 404].includes((failure as { readonly code?: number }).code ?? 0);

/** Runs `then` after a declaration; in the same call stack if there is none to wait for. */
function whenReady(ready: Promise<void> | undefined, then: () => void, failed: Done | undefined): void {
  if (ready === undefined) then();
  else ready.then(then).catch((error: unknown) => failed?.(error as Error));
}

/**
 * Publishes a delivery to its origin, as a new message: no deaths, attempt 1. If several queues are bound there, each gets the
 * message; name a queue in `to` to avoid that.
 * @param now milliseconds since 1970
 * @param to a queue's name, or an exchange and a routing key. Default: the origin. Without an origin, or with one that only
 *   headers name, `done` gets an UnknownOriginError or an UnprovenOriginError
 * @param message what is published. Default: the message of the delivery
 */
export function redrive(
  delivery: BackendDelivery,
  now: number,
  to?: Address | string,
  done?: Done,
  message: Message = delivery.message,
): void {
  const address = redriveAddress(delivery, to);
  if (address instanceof Error) return done?.(address);
  delivery.replaceBy(republication(message, address, headersForRedrive(message, now)), done);
}

/** The target of a redrive of this message, or the error that refuses it. */
export function redriveAddress(
  { message, queue, recordsOrigins }: Pick<BackendDelivery, 'message' | 'queue' | 'recordsOrigins'>,
  to?: Address | string,
): Address | UnknownOriginError | UnprovenOriginError {
  if (typeof to === 'string') return { exchange: '', routingKey: to };
  const address = to ?? originOf(message);
  if (address === undefined) return new UnknownOriginError(queue);
  const isProven = to !== undefined || message.origin !== undefined || recordsOrigins !== true;
  return isProven ? address : new UnprovenOriginError(queue, address);
}

/**
 * Where the message was published at first, for its headers. If the broker records no origin, it is the address of a delivery
 * that came directly from an exchange; otherwise headers name it.
 */
function firstAddressOf({ message, queue, recordsOrigins }: BackendDelivery): Address {
  const isStraight = recordsOrigins === true || deathsOf(message).length === 0;
  return isStraight && !isQueueItself(message, queue) ? recordedAddressOf(message) : publishedTo(message, queue);
}

/** The recorded origin, with the queue in which the message failed. */
function recordOf(message: Message, queue: string): RecordedOrigin {
  const { exchange, routingKey } = recordedAddressOf(message);
  return { exchange, routingKey, queue };
}

/** A delivery from the work queue itself is an attempt under way, and counts. In other queues only past attempts count. */
function attemptsMade({ message, queue }: BackendDelivery, workQueue: string): number {
  return attemptOf(message, workQueue) - (queue === workQueue ? 0 : 1);
}

/**
 * The successor of a message. It is persistent, to survive its wait. It has no expiration, which would shorten the wait (rule B4),
 * and no user id, which would have to be that of this connection (rule K7). It is mandatory: an unroutable one would be lost.
 */
function republication(
  message: Message,
  { exchange, routingKey }: Address,
  headers: FieldTable,
  origin?: RecordedOrigin,
): Publication {
  const properties = successorProperties(message.own, headers);
  const { body } = message;
  return origin === undefined
    ? { exchange, routingKey, properties, body, mandatory: true }
    : { exchange, routingKey, properties, body, mandatory: true, origin };
}
