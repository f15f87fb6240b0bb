import type { FieldTable, Message, Properties } from '../message/index.js';
import { waitQueueName } from '../topology/index.js';
import type { RetryPlan } from '../topology/index.js';
import type { BackendDelivery, Done, Publication } from './backend.js';
import { attemptOf, headersForRedrive, headersForRetry, originOf } from './retry-headers.js';
import type { Address } from './retry-headers.js';

/*
 * Everything here takes the place of a delivery by `replaceBy`: it is acked when, and only when, the broker took
 * responsibility for its successor. If that was refused or returned, the delivery stays unsettled, `done` gets the
 * failure, and whoever called settles it otherwise. Nothing is lost; after a crash in between there are two.
 */

/** Why a handler failed. */
export interface Failure {
  readonly error: unknown;
  /** What describes the error, added to the message: `dlx-error-class`, `dlx-error-message`, `dlx-error-stack`. */
  readonly headers: FieldTable;
}

/** What became of a failed delivery; `attempt` is the one that failed. */
export type RetryOutcome =
  | { readonly kind: 'retried'; readonly delay: number; readonly attempt: number }
  | { readonly kind: 'parked'; readonly queue: string; readonly attempt: number };

/** The message knows no origin: it was never dead-lettered nor republished by us. */
export class UnknownOriginError extends Error {
  override readonly name = 'UnknownOriginError';

  constructor(queue: string) {
    super(`a message in queue '${queue}' cannot be redriven: nothing in it tells where it came from; name a target`);
  }
}

/**
 * Sends a failed delivery through a wait queue back to its work queue, or, after the last attempt, to the parking lot.
 * @param plan whose topology was declared
 * @returns what was begun; `done` tells whether it succeeded
 */
export function retryOrPark(delivery: BackendDelivery, plan: RetryPlan, failure: Failure, done?: Done): RetryOutcome {
  const attempt = attemptOf(delivery.message, plan.queue);
  const { headers } = failure;
  if (attempt >= plan.attempts) {
    park(delivery, plan.parkingLot, { queue: plan.queue, attempt, headers }, done);
    return { kind: 'parked', queue: plan.parkingLot, attempt };
  }
  const delay = plan.delayBefore(attempt + 1);
  retryIn(delivery, delay, { queue: plan.queue, attempt: attempt + 1, headers }, done);
  return { kind: 'retried', delay, attempt };
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
 * Sends a delivery to a work queue, there after a delay.
 * @param delay whole milliseconds; the wait queue of that delay must have been declared (`waitQueues([delay])`)
 */
export function retryIn(delivery: BackendDelivery, delay: number, options: RepublishOptions = {}, done?: Done): void {
  const { message } = delivery;
  const { queue = delivery.queue, headers } = options;
  const { attempt = attemptsMade(delivery, queue) + 1 } = options;
  const address = { exchange: waitQueueName(delay), routingKey: queue };
  delivery.replaceBy(republication(message, address, headersForRetry(message, queue, attempt, false, headers)), done);
}

/** Moves a delivery to a queue where it stays until somebody takes it, with all that is known about its failures. */
export function park(delivery: BackendDelivery, parkingLot: string, options: RepublishOptions = {}, done?: Done): void {
  const { message } = delivery;
  const { queue = delivery.queue, headers } = options;
  const { attempt = attemptsMade(delivery, queue) } = options;
  const address = { exchange: '', routingKey: parkingLot };
  delivery.replaceBy(republication(message, address, headersForRetry(message, queue, attempt, true, headers)), done);
}

/**
 * Sends a delivery back to where it was published at first, as a message that starts anew: no deaths, attempt 1. If
 * several queues are bound there, each gets it: name the queue to spare the others.
 * @param to a queue's name, or an exchange and a routing key; without it the origin, and if there is none `done` gets
 *   an UnknownOriginError
 */
export function redrive(delivery: BackendDelivery, to?: Address | string, done?: Done): void {
  const address = typeof to === 'string' ? { exchange: '', routingKey: to } : (to ?? originOf(delivery.message));
  if (address === undefined) done?.(new UnknownOriginError(delivery.queue));
  else delivery.replaceBy(republication(delivery.message, address, headersForRedrive(delivery.message)), done);
}

/** A delivery from the work queue itself is an attempt in course; one from elsewhere shows only those gone by. */
function attemptsMade({ message, queue }: BackendDelivery, workQueue: string): number {
  return attemptOf(message, workQueue) - (queue === workQueue ? 0 : 1);
}

/**
 * Persistent, for it must survive as long as it waits; without its own time to live, which would cut the wait short
 * (rule B4); without the user id, which would have to be ours (rule K7); and mandatory, for unroutable is lost.
 */
function republication(message: Message, { exchange, routingKey }: Address, headers: FieldTable): Publication {
  const properties: Properties = {
    ...message.properties,
    headers,
    deliveryMode: 2,
    expiration: undefined,
    userId: undefined,
  };
  return { exchange, routingKey, properties, body: message.body, mandatory: true };
}
