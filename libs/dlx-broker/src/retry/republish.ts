import { deathsOf, longstr } from '../message/index.js';
import {
  attemptOf,
  errorHeaders,
  failingSince,
  headersForRedrive,
  headersForRetry,
  isQueueItself,
  originOf,
  publishedTo,
  recordedAddressOf,
} from '../history/index.js';
import type { Address, FieldTable, Message, Properties, RecordedOrigin } from '../message/index.js';
import { decideRetry, type ParkedFor } from './decision.js';
import { waitQueueName } from './wait-queue-names.js';
import type { RetryPlan } from './policy.js';
import type { BackendDelivery, Done, Publication } from '../backend/index.js';
import { shown } from '../options/index.js';

import type { WaitQueues } from './wait-queues.js';

/*
 * Everything here takes the place of a delivery by `replaceBy`: it is acked when, and only when, the broker took
 * responsibility for its successor. If that was refused or returned, the delivery stays unsettled, `done` gets the
 * failure, and the caller settles it otherwise. Nothing is lost; after a crash in between there are two.
 */

/** Why a handler failed. */
export interface Failure {
  readonly error: unknown;
  /** What describes the error, added to the message: `dlx-error-class`, `dlx-error-message`, `dlx-error-stack`. */
  readonly headers: FieldTable;
  /** The queue dead-letters what is rejected into the wait queue of its policy. */
  readonly byReject?: boolean;
  /** The wait its handler asked for, in milliseconds. */
  readonly asked?: number | undefined;
}

/** What became of a failed delivery; `attempt` is the one that failed. */
export type RetryOutcome =
  | { readonly kind: 'retried'; readonly delay: number; readonly attempt: number }
  | {
      readonly kind: 'parked';
      readonly queue: string;
      readonly attempt: number;
      readonly why: ParkedFor;
      /** What a function of the policy threw, where `why` is `policy`. */
      readonly fault?: unknown;
    };

/** The message has no origin: it was never dead-lettered, retried or parked. */
export class UnknownOriginError extends Error {
  override readonly name = 'UnknownOriginError';

  constructor(queue: string) {
    super(`a message in queue '${queue}' cannot be redriven: nothing in it tells where it came from; name a target`);
  }
}

/** Only headers tell where the message came from, and its publisher may have written them. */
export class UnprovenOriginError extends Error {
  override readonly name = 'UnprovenOriginError';

  constructor(
    queue: string,
    /** What the headers tell. */
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
 * Sends a failed delivery through a wait queue back to its work queue, or parks it, as {@link decideRetry} says.
 * @param plan whose topology was declared
 * @returns what was begun; `done` tells whether it succeeded
 */
export function retryOrPark(
  delivery: BackendDelivery,
  plan: RetryPlan,
  failure: Failure,
  waitQueues: WaitQueues,
  done?: Done,
): RetryOutcome {
  const { message } = delivery;
  const { error, headers, asked } = failure;
  const attempt = attemptOf(message, plan.queue);
  const failed = { attempt, error, asked, now: waitQueues.now(), failingSince: failingSince(message) };
  const decision = decideRetry(plan, failed, (delay) => waitQueues.nearest(delay));
  if (decision.kind === 'park') {
    const all = decision.why === 'policy' ? withFault(headers, decision.fault) : headers;
    park(delivery, plan.parkingLot, waitQueues, { queue: plan.queue, attempt, headers: all }, done);
    return { ...decision, kind: 'parked', queue: plan.parkingLot, attempt };
  }
  const { delay } = decision;
  if (failure.byReject === true && delay === plan.only) rejectInto(delivery, delay, waitQueues, headers, done);
  else retryIn(delivery, delay, waitQueues, { queue: plan.queue, attempt: attempt + 1, headers }, done);
  return { kind: 'retried', delay, attempt };
}

/** Both errors are on the message: that of the attempt, and that of the policy. */
function withFault(headers: FieldTable, fault: unknown): FieldTable {
  return new Map(headers).set(errorHeaders.policy, longstr(textOf(fault).slice(0, longestFault)));
}

/** Anything can be thrown, also what cannot be looked at. */
function textOf(fault: unknown): string {
  try {
    return fault instanceof Error ? `${fault.name}: ${fault.message}` : shown(fault);
  } catch {
    return 'an error that cannot be shown';
  }
}

/** Characters of the policy's error that are kept. */
const longestFault = 1024;

/** The broker does the rest. The wait queue has to stand, or the message would be lost. */
function rejectInto(
  delivery: BackendDelivery,
  delay: number,
  waitQueues: WaitQueues,
  headers: FieldTable,
  done: Done | undefined,
): void {
  const reject = (): void => {
    delivery.reject(headers); // what the backend cannot add it leaves out
    done?.();
  };
  once(waitQueues.wait(delay), reject, done);
}

/** For whom a message is republished, and what is written on it. */
export interface RepublishOptions {
  /** The work queue it belongs to and returns to. Default: the queue of the delivery. */
  readonly queue?: string;
  /** Default: counted from the message. */
  readonly attempt?: number;
  /** Further headers. */
  readonly headers?: FieldTable;
}

/**
 * Sends a delivery to a work queue, there after a delay. The wait queue of that delay is declared if need be.
 * @param delay whole milliseconds; 0 is at once, behind what waits in the queue
 */
export function retryIn(
  delivery: BackendDelivery,
  delay: number,
  waitQueues: WaitQueues,
  options: RepublishOptions = {},
  done?: Done,
): void {
  const { message } = delivery;
  const { queue = delivery.queue, headers } = options;
  const { attempt = attemptsMade(delivery, queue) + 1 } = options;
  const exchange = delay === 0 ? '' : waitQueueName(delay, waitQueues.type);
  const from = firstAddressOf(delivery);
  const progress = { queue, attempt, now: waitQueues.now(), isParked: false, from };
  const to = { exchange, routingKey: queue };
  const successor = republication(message, to, headersForRetry(message, progress, headers), recordOf(message, queue));
  const finished: Done = (failure) => {
    if (failure !== undefined) waitQueues.forget(delay);
    done?.(failure);
  };
  once(delay === 0 ? undefined : waitQueues.wait(delay), () => delivery.replaceBy(successor, finished), finished);
}

/**
 * Moves a delivery to a queue in which it stays until it is consumed, with all that is known about its failures. The
 * queue is declared if it does not exist.
 */
export function park(
  delivery: BackendDelivery,
  parkingLot: string,
  waitQueues: WaitQueues,
  options: RepublishOptions = {},
  done?: Done,
): void {
  const { message } = delivery;
  const { queue = delivery.queue, headers } = options;
  const { attempt = attemptsMade(delivery, queue) } = options;
  const address = { exchange: '', routingKey: parkingLot };
  const from = firstAddressOf(delivery);
  const progress = { queue, attempt, now: waitQueues.now(), isParked: true, from };
  const successor = republication(
    message,
    address,
    headersForRetry(message, progress, headers),
    recordOf(message, queue),
  );
  once(waitQueues.lot(parkingLot), () => delivery.replaceBy(successor, done), done);
}

/** In the same call stack where nothing has to be declared first. */
function once(ready: Promise<void> | undefined, then: () => void, failed: Done | undefined): void {
  if (ready === undefined) then();
  else ready.then(then).catch((error: unknown) => failed?.(error as Error));
}

/**
 * Sends a delivery back to where it was published at first, as a message that starts anew: no deaths, attempt 1. If
 * several queues are bound there, each gets it: name the queue to spare the others.
 * @param to a queue's name, or an exchange and a routing key; without it the origin, and if there is none, or only headers
 *   tell of it, `done` gets an UnknownOriginError or an UnprovenOriginError
 */
export function redrive(delivery: BackendDelivery, to?: Address | string, done?: Done): void {
  const { message } = delivery;
  const address = redriveAddress(delivery, to);
  if (address instanceof Error) return done?.(address);
  delivery.replaceBy(republication(message, address, headersForRedrive(message)), done);
}

/** Where a redrive would take a message, or why it would not. */
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
 * Where it was published at first, for its headers. A broker that records nothing is believed for a delivery that came
 * straight from an exchange; otherwise its headers are.
 */
function firstAddressOf({ message, queue, recordsOrigins }: BackendDelivery): Address {
  const isStraight = recordsOrigins === true || deathsOf(message).length === 0;
  return isStraight && !isQueueItself(message, queue) ? recordedAddressOf(message) : publishedTo(message, queue);
}

/** The same as the broker knows it, with the queue in which it failed. */
function recordOf(message: Message, queue: string): RecordedOrigin {
  const { exchange, routingKey } = recordedAddressOf(message);
  return { exchange, routingKey, queue };
}

/** A delivery from the work queue itself is an attempt in course; one from elsewhere shows only those gone by. */
function attemptsMade({ message, queue }: BackendDelivery, workQueue: string): number {
  return attemptOf(message, workQueue) - (queue === workQueue ? 0 : 1);
}

/**
 * Persistent, for it must survive as long as it waits; without its own time to live, which would cut the wait short
 * (rule B4); without the user id, which would have to be ours (rule K7); and mandatory, for unroutable is lost.
 */
function republication(
  message: Message,
  { exchange, routingKey }: Address,
  headers: FieldTable,
  origin?: RecordedOrigin,
): Publication {
  const properties: Properties = {
    ...message.own,
    headers,
    deliveryMode: 2,
    expiration: undefined,
    userId: undefined,
  };
  const publication = { exchange, routingKey, properties, body: message.body, mandatory: true };
  return origin === undefined ? publication : { ...publication, origin };
}
