import { emptyTable } from '../message/index.js';
import { planDelays, type Backoff } from './backoff.js';
import { DlxConfigurationError } from './configuration-error.js';
import type { QueueDeclaration, Topology } from './topology.js';
import { waitQueues, type WaitQueueType } from './wait-queues.js';

/** How often to try, how long to wait in between, and where a message ends that never succeeded. */
export interface RetryPolicy {
  /** How often a message is handled at most, the first time included: 1 means it is parked at its first failure. */
  readonly attempts: number;
  readonly backoff: Backoff;
  /** The queue for messages whose last attempt failed. Default: the work queue's name and `.parked`. */
  readonly parkingLot?: string;
}

/** For whom a retry is planned. */
export interface RetryTarget {
  /** The work queue, to which a message returns. */
  readonly queue: string;
  /** Who asked, for errors: `@Retry on OrdersController.created`. */
  readonly origin: string;
  /** Draws the step of a jitter: 0 up to but not including 1. Lent by tests; `Math.random` by default. */
  readonly random?: () => number;
  /** Default: `classic`. The parking lot is of this type too. */
  readonly waitQueueType?: WaitQueueType;
}

/** A policy worked out for one work queue: plain data for the topology, and the answer to "how long now?". */
export interface RetryPlan {
  readonly queue: string;
  readonly attempts: number;
  readonly parkingLot: string;
  /** Every delay that can occur, in milliseconds, ascending: one wait queue each. */
  readonly delays: readonly number[];
  /** The wait queues, shared with other plans of the same delays, and the parking lot. */
  readonly topology: Topology;
  /**
   * Milliseconds to wait before an attempt.
   * @param attempt 2 (the first retry) up to `attempts`
   * @throws RangeError for any other attempt
   */
  delayBefore(attempt: number): number;
}

/** Names are short strings on the wire. */
const longestName = 255;

/**
 * Works out a retry policy. Nothing is declared yet: see `topology` of the result.
 * @throws DlxConfigurationError when the policy can never work, naming who asked, the option and a way out
 */
export function planRetry(policy: RetryPolicy, target: RetryTarget): RetryPlan {
  const { queue, origin, random = Math.random, waitQueueType = 'classic' } = target;
  const attempts = checkedAttempts(policy.attempts, origin);
  const delays = planDelays(policy.backoff, attempts, origin);
  const parkingLot = checkedParkingLot(policy.parkingLot, queue, origin);
  const waiting = waitQueues(delays.all, origin, waitQueueType);
  return {
    queue,
    attempts,
    parkingLot,
    delays: delays.all,
    topology: { ...waiting, queues: [...waiting.queues, parkingLotQueue(parkingLot, origin, waitQueueType)] },
    delayBefore(attempt) {
      if (Number.isInteger(attempt) && attempt >= 2 && attempt <= attempts) return delays.before(attempt, random);
      throw new RangeError(`there is no wait before attempt ${attempt}: they are 2 to ${attempts}`);
    },
  };
}

function checkedAttempts(attempts: number, origin: string): number {
  if (Number.isSafeInteger(attempts) && attempts >= 1) return attempts;
  throw new DlxConfigurationError(
    `${origin}: attempts is ${String(attempts)}; write a whole number from 1 up, the first attempt included`,
  );
}

function checkedParkingLot(parkingLot: string | undefined, queue: string, origin: string): string {
  const name = parkingLot ?? `${queue}.parked`;
  const refuse = (why: string) => new DlxConfigurationError(`${origin}: parkingLot ${why}`);
  if (name === '') throw refuse(`is empty; name a queue, or leave it out for '${queue}.parked'`);
  if (name === queue) {
    throw refuse(`is '${name}', the work queue itself, where it would fail again; leave it out for '${queue}.parked'`);
  }
  if (/^wait\.\d+$/.test(name)) throw refuse(`is '${name}', the name of a wait queue; choose another`);
  if (name.startsWith('amq.'))
    throw refuse(`is '${name}', but names beginning with 'amq.' are reserved; choose another`);
  if (Buffer.byteLength(name) > longestName) throw refuse(`is longer than ${longestName} bytes; choose a shorter name`);
  return name;
}

/** No time to live and no dead-letter exchange: what is parked stays until somebody takes it. */
function parkingLotQueue(name: string, origin: string, type: WaitQueueType): QueueDeclaration {
  const args = type === 'quorum' ? new Map([['x-queue-type', { type: 'S', value: 'quorum' } as const]]) : emptyTable;
  return { name, durable: true, exclusive: false, autoDelete: false, arguments: args, origin };
}
