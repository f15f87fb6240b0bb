import type { QueueDeclaration, Topology } from '../../backends/topology/index.js';
import {
  DlxConfigurationError,
  notAPromise,
  numberInString,
  optionsOf,
  parseDuration,
  refused,
  refuseUnknown,
  shown,
} from '../../platform/options/index.js';
import { type BackoffSetting, planWaits, type Wait } from './backoff.js';
import { NotedFailure } from './not-retryable.js';
import { isUnretryable } from './not-retryable.js';
import { archiveQueue, checkedParkingLot, parkingLotOf, parkingLotQueue } from './parking-lot.js';
import { type Retention, retentionOf } from './retention.js';
import { delaysAtStart, waitQueueTopology, type WaitQueueType } from './wait-queue-names.js';

/**
 * The number of attempts, the waits between them, the errors to retry, and the queue for messages that never succeed.
 */
export interface RetryPolicy {
  /** The largest number of attempts, the first one included: with 1 the first failure parks the message. */
  readonly attempts: number;
  /** Default: one second, doubled each time, at most an hour. */
  readonly backoff?: BackoffSetting;
  /** The first N retries are immediate: the message goes to the back of its queue. Default 0. */
  readonly immediate?: number;
  /** Only these errors are retried. Default: all. */
  readonly retryOn?: ErrorTests;
  /**
   * These errors park the message at once. The list replaces the default, which is
   * `BadRequestException` and the errors of validation libraries; an empty list retries those, too.
   */
  readonly neverRetry?: ErrorTests;
  /**
   * The queue for messages whose last attempt failed. Default: the work queue's name and `.parked`; class and method and `.parked` for a
   * queue that is exclusive, is auto-delete or expires.
   */
  readonly parkingLot?: string;
  /** How long the parking lot keeps a message, counted from its parking: `'90d'`. Default: until it is consumed. */
  readonly parkFor?: Wait;
  /**
   * What becomes of a message after `parkFor`: `archive` moves it with its history to the queue with the name of the parking lot and
   * `.archive`, where it stays; `drop` deletes it. Default `archive`.
   */
  readonly onExpiry?: 'archive' | 'drop';
  /** Time limit of one attempt; after it the attempt has failed, and the `signal` of its context is aborted. Default: none. */
  readonly timeout?: Wait;
  /** No attempt starts later than this after the first failure. Default: no limit. */
  readonly deadline?: Wait;
}

/** The queue and the handler for which a retry is planned. */
export interface RetryTarget {
  /** The work queue, to which a message returns. */
  readonly queue: string;
  /** The parking lot when the policy has none. Default: the name of the queue and `.parked`. */
  readonly lot?: string;
  /** Where the policy is written, for errors: `@Retry on OrdersController.created`. */
  readonly origin: string;
  /** Random numbers for the jitter: 0 up to but not including 1. `Math.random` by default; tests give their own. */
  readonly random?: () => number;
  /** Default: `classic`. */
  readonly waitQueueType?: WaitQueueType;
  /** The type of the parking lot. Default: that of the wait queues. */
  readonly lotType?: WaitQueueType;
  /** The value of `neverRetry` when the policy has none. Default: no error. */
  readonly neverRetry?: ErrorTests;
}

/** A policy for one work queue: the topology that it needs, and the delay before each attempt. */
export interface RetryPlan {
  readonly queue: string;
  readonly attempts: number;
  readonly parkingLot: string;
  /** How long the parking lot keeps a message; undefined for ever. */
  readonly retention: Retention | undefined;
  /** Milliseconds; undefined without a limit. */
  readonly timeout: number | undefined;
  readonly deadline: number | undefined;
  readonly waitQueueType: WaitQueueType;
  /** Every delay known beforehand, in milliseconds, ascending: one wait queue each. */
  readonly delays: readonly number[];
  /** The wait queues known beforehand, shared with other plans of the same delays, and the parking lot. */
  readonly topology: Topology;
  /** The delay before every retry, if all retries have the same; otherwise undefined. */
  readonly only: number | undefined;
  /** True if the policy retries after this error. */
  retries(error: unknown): boolean;
  /**
   * Milliseconds to wait before an attempt, 0 for at once.
   * @param attempt 2 (the first retry) up to `attempts`
   * @throws RangeError for any other attempt; DlxConfigurationError when the user's function answers no duration
   */
  delayBefore(attempt: number, error?: unknown): number;
  /**
   * The longest wait that is possible before an attempt, in milliseconds.
   * @param attempt 2 (the first retry) up to `attempts`
   * @returns undefined when a function of the user returns the waits
   */
  longestBefore(attempt: number): number | undefined;
}

const defaultBackoff: BackoffSetting = { type: 'exponential', delay: '1s', max: '1h' };

const options: readonly string[] = [
  'attempts',
  'backoff',
  'immediate',
  'retryOn',
  'neverRetry',
  'parkingLot',
  'parkFor',
  'onExpiry',
  'timeout',
  'deadline',
];

/**
 * Makes the plan of a retry policy. Nothing is declared yet: see `topology` of the result.
 * @throws DlxConfigurationError when the policy can never work; the error names its place, the option and a remedy
 */
export function planRetry(policy: RetryPolicy, target: RetryTarget): RetryPlan {
  const {
    queue,
    lot = parkingLotOf(queue),
    origin,
    random = Math.random,
    waitQueueType = 'classic',
    lotType = waitQueueType,
  } = target;
  refuseUnknown(optionsOf(policy, origin, 'write { attempts: 5 }'), options, origin);
  const attempts = whole(policy.attempts, 1, `${origin}: attempts`, 'the first attempt included');
  const immediate = whole(policy.immediate ?? 0, 0, `${origin}: immediate`, 'or leave it out');
  refuseUnusedRetries(attempts, immediate, policy.backoff, origin);
  const waits = planWaits(
    policy.backoff === undefined ? defaultBackoff : policy.backoff,
    attempts - 1 - immediate,
    origin,
  );
  const deadline = limit(policy.deadline, `${origin}: deadline`);
  const [least] = waits.exact;
  if (deadline !== undefined && immediate === 0 && least !== undefined && least > deadline) {
    const text = `${origin}: deadline (${deadline} ms) is over before the first wait (${least} ms) is; raise it`;
    throw new DlxConfigurationError(text);
  }
  const parkingLot = checkedParkingLot(policy.parkingLot, queue, lot, origin);
  const retention = retentionOf(policy, parkingLot, origin);
  const waiting = waitQueueTopology(delaysAtStart(waits.exact, waitQueueType), origin, waitQueueType);
  const retryOn = policy.retryOn === undefined ? () => true : anyOf(policy.retryOn, `${origin}: retryOn`);
  const never = anyOf(policy.neverRetry ?? target.neverRetry ?? [], `${origin}: neverRetry`);
  return {
    queue,
    attempts,
    parkingLot,
    retention,
    timeout: limit(policy.timeout, `${origin}: timeout`),
    deadline,
    waitQueueType,
    delays: waits.exact,
    topology: { ...waiting, queues: [...waiting.queues, ...lotQueues(parkingLot, retention, origin, lotType)] },
    only: immediate === 0 && !waits.drawn && waits.exact.length === 1 ? waits.exact[0] : undefined,
    retries: (error) => !isUnretryable(error) && retryOn(error) && !never(error),
    delayBefore(attempt, error) {
      if (!Number.isInteger(attempt) || attempt < 2 || attempt > attempts) {
        throw new RangeError(`there is no wait before attempt ${attempt}: they are 2 to ${attempts}`);
      }
      const retry = attempt - 1 - immediate;
      return retry < 1 ? 0 : waits.before(retry, error, random);
    },
    longestBefore: (attempt) => (attempt - 1 - immediate < 1 ? 0 : waits.longest(attempt - 1 - immediate)),
  };
}

/** The archive, if there is one, stands before the parking lot that leads to it. */
function lotQueues(
  parkingLot: string,
  retention: Retention | undefined,
  origin: string,
  type: WaitQueueType,
): readonly QueueDeclaration[] {
  const lot = parkingLotQueue(parkingLot, origin, type, retention);
  const archive = retention?.archive;
  return archive === undefined ? [lot] : [archiveQueue(archive, origin, type), lot];
}

/**
 * Refuses immediate retries and waits for which there are too few attempts: they would have no effect. A policy with one attempt may have
 * them, because that switches the retries off.
 */
function refuseUnusedRetries(
  attempts: number,
  immediate: number,
  backoff: BackoffSetting | undefined,
  origin: string,
): void {
  const retries = attempts - 1;
  if (retries === 0) return;
  if (immediate > retries) {
    const text = `immediate is ${immediate}, and attempts: ${attempts} allows ${counted(retries, 'retry', 'retries')}`;
    throw new DlxConfigurationError(`${origin}: ${text}; write attempts: ${immediate + 1}, or immediate: ${retries}`);
  }
  const waits = Array.isArray(backoff) ? backoff.length : 0;
  const waiting = retries - immediate;
  if (waits <= waiting) return;
  const because =
    immediate === 0 ? `attempts: ${attempts} allows` : `attempts: ${attempts} and immediate: ${immediate} allow`;
  throw new DlxConfigurationError(
    `${origin}: backoff has ${counted(waits, 'wait', 'waits')}, and ${because} ${counted(waiting, 'retry', 'retries')} with a wait; ` +
      `write attempts: ${waits + immediate + 1}, or leave ${waiting === 0 ? 'backoff' : `the last ${waits - waiting}`} out`,
  );
}

const counted = (count: number, one: string, several: string): string => `${count} ${count === 1 ? one : several}`;

function whole(value: number, least: number, origin: string, hint: string): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  const inString = numberInString(value, least);
  if (inString !== undefined) throw refused(value, origin, inString);
  throw new DlxConfigurationError(`${origin} is ${shown(value)}; write a whole number from ${least} up, ${hint}`);
}

function limit(value: Wait | undefined, origin: string): number | undefined {
  if (value === undefined) return undefined;
  const milliseconds = parseDuration(value, origin);
  if (milliseconds > 0) return milliseconds;
  throw new DlxConfigurationError(`${origin} is 0, which nothing can meet; leave it out for no limit`);
}

/** A class of errors. Its constructor may have any parameters. */
type ErrorClass = abstract new (...args: never[]) => unknown;

/** Selects errors: instances of a class, or those for which a function returns true. */
type ErrorTest = ErrorClass | ((error: unknown) => boolean);

/** One or several. */
export type ErrorTests = ErrorTest | readonly ErrorTest[];

/**
 * Combines tests: the result is true if one of them is.
 * @param origin where they are written, for errors
 * @throws DlxConfigurationError for what is neither class nor function
 */
export function anyOf(tests: ErrorTests, origin: string): (error: unknown) => boolean {
  const list = (Array.isArray(tests) ? tests : [tests]) as readonly unknown[];
  const compiled = list.map((test) => {
    if (typeof test !== 'function') {
      throw new DlxConfigurationError(`${origin}: ${shown(test)} is neither a class of errors nor a function`);
    }
    return compile(test as ErrorTest, origin);
  });
  return (error) => compiled.some((holds) => holds(error));
}

/** A class differs from a function by its `prototype`: it is not writable, or it extends that of Error. */
function compile(test: ErrorTest, origin: string): (error: unknown) => boolean {
  if (isClass(test)) {
    return (error) => error instanceof test || (error instanceof NotedFailure && error.name === test.name);
  }
  const predicate = test;
  return (error) => {
    const answer: unknown = notAPromise(predicate(error), `${origin}: ${predicate.name || 'a function'}`);
    if (typeof answer === 'boolean') return answer;
    if (answer === undefined || answer === null) return false;
    throw refused(answer, `${origin}: ${predicate.name || 'a function'}`, 'was its answer, neither true nor false');
  };
}

function isClass(test: ErrorTest): test is ErrorClass {
  if (test === Error || (test.prototype as unknown) instanceof Error) return true;
  return Object.getOwnPropertyDescriptor(test, 'prototype')?.writable === false;
}
