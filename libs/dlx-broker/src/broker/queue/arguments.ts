import { anything, boolean, deadLetterKey, natural, oneOf, positive, priority } from './argument-values.js';
import { queueVersion, text, timeToIdle, timeToLive } from './argument-values.js';
import type { Accepts } from './argument-values.js';
import type { Profile } from '../profile.js';
import { overflowNames } from './overflow.js';
import type { QueueType } from './queue-types.js';
import type { QueueSettings } from './settings.js';

/** Which value holds when both sides give one (rules F3, F4, D11); `limit` where a negative one may stand for none (rule W6). */
export type Merge = 'argument' | 'policy' | 'minimum' | 'maximum' | 'limit';

export interface QueueArgument {
  readonly name: string;
  readonly accepts: Accepts;
  /**
   * The queue types that know it, and the place at which a redeclare compares it (rule F10): only which of several
   * differences is reported hangs on that.
   */
  readonly on: { readonly [type in QueueType]?: number };
  /** The key that sets the same by policy, if one can (rule F14). */
  readonly policy?: string;
  /** Whether an operator policy may set it too (rule F12). */
  readonly operator?: boolean;
  /** What it becomes; without one it is accepted and has no effect here. */
  readonly setting?: keyof QueueSettings;
  readonly merge?: Merge | Readonly<Record<QueueType, Merge>>;
  /** What holds of a user's and an operator's policy, where it is not the smaller; `policy` is the operator's. */
  readonly operatorMerge?: Merge;
  /** The profile must have this; to the others the argument is unknown. */
  readonly needs?: 'delayedRetry';
}

const quoting = (what: string) => (value: string) => `"unsupported queue ${what} '${value}'"`;

/** Every queue argument there is, in the order in which a declare checks them (rule F9). */
export const queueArguments: readonly QueueArgument[] = [
  {
    name: 'x-expires',
    accepts: timeToIdle,
    on: { classic: 1, quorum: 4 },
    policy: 'expires',
    operator: true,
    setting: 'expires',
    merge: { classic: 'minimum', quorum: 'policy' },
  },
  {
    name: 'x-message-ttl',
    accepts: timeToLive,
    on: { classic: 2, quorum: 14 },
    policy: 'message-ttl',
    operator: true,
    setting: 'messageTtl',
    merge: 'minimum',
  },
  {
    name: 'x-dead-letter-exchange',
    accepts: text,
    on: { classic: 3, quorum: 1 },
    policy: 'dead-letter-exchange',
    setting: 'deadLetterExchange',
    merge: 'argument',
  },
  {
    name: 'x-dead-letter-routing-key',
    accepts: deadLetterKey,
    on: { classic: 4, quorum: 2 },
    policy: 'dead-letter-routing-key',
    setting: 'deadLetterRoutingKey',
    merge: 'argument',
  },
  {
    name: 'x-dead-letter-strategy',
    accepts: oneOf(['at-most-once', 'at-least-once'], () => 'invalid_dlx_strategy'),
    on: { quorum: 3 },
    policy: 'dead-letter-strategy',
    setting: 'deadLetterStrategy',
    merge: 'argument',
  },
  {
    name: 'x-max-length',
    accepts: natural,
    on: { classic: 5, quorum: 5 },
    policy: 'max-length',
    operator: true,
    setting: 'maxLength',
    merge: 'minimum',
  },
  {
    name: 'x-max-length-bytes',
    accepts: natural,
    on: { classic: 6, quorum: 6 },
    policy: 'max-length-bytes',
    operator: true,
    setting: 'maxLengthBytes',
    merge: 'minimum',
  },
  {
    name: 'x-max-in-memory-length',
    accepts: natural,
    on: { quorum: 7 },
    policy: 'max-in-memory-length',
    operator: true,
  },
  {
    name: 'x-max-in-memory-bytes',
    accepts: natural,
    on: { quorum: 8 },
    policy: 'max-in-memory-bytes',
    operator: true,
  },
  { name: 'x-max-priority', accepts: priority, on: { classic: 7 }, setting: 'maxPriority', merge: 'argument' },
  {
    name: 'x-overflow',
    accepts: oneOf(overflowNames, () => 'invalid_overflow'),
    on: { classic: 8, quorum: 9 },
    policy: 'overflow',
    setting: 'overflow',
    merge: { classic: 'argument', quorum: 'policy' },
  },
  {
    name: 'x-queue-mode',
    accepts: oneOf(['default', 'lazy'], quoting('mode')),
    on: { classic: 9 },
    policy: 'queue-mode',
  },
  { name: 'x-queue-version', accepts: queueVersion, on: { classic: 10 }, policy: 'queue-version' },
  {
    name: 'x-single-active-consumer',
    accepts: boolean,
    on: { classic: 11, quorum: 10 },
    setting: 'singleActiveConsumer',
    merge: 'argument',
  },
  // First of all to be checked, last to be compared: see argument-checks.ts.
  { name: 'x-queue-type', accepts: oneOf(['classic', 'quorum'], quoting('type')), on: { classic: 12, quorum: 11 } },
  { name: 'x-quorum-initial-group-size', accepts: positive, on: { quorum: 12 } },
  {
    name: 'x-queue-leader-locator',
    accepts: oneOf(['client-local', 'balanced', 'random', 'least-leaders'], () => 'invalid_queue_locator_arg'),
    on: { quorum: 15 },
    policy: 'queue-leader-locator',
  },
  {
    // 3.10 checks nothing here, whatever the type: a limit that is no natural number is none.
    name: 'x-delivery-limit',
    accepts: anything,
    on: { quorum: 13 },
    policy: 'delivery-limit',
    operator: true,
    setting: 'deliveryLimit',
    merge: 'limit',
    operatorMerge: 'limit',
  },
  // These are not checked at declare: what is no type or no positive number delays nothing.
  {
    name: 'x-delayed-retry-type',
    accepts: anything,
    on: { quorum: 16 },
    policy: 'delayed-retry-type',
    operator: true,
    setting: 'delayedRetryType',
    merge: 'policy',
    operatorMerge: 'policy',
    needs: 'delayedRetry',
  },
  {
    name: 'x-delayed-retry-min',
    accepts: anything,
    on: { quorum: 17 },
    policy: 'delayed-retry-min',
    operator: true,
    setting: 'delayedRetryMin',
    merge: 'minimum',
    operatorMerge: 'maximum',
    needs: 'delayedRetry',
  },
  {
    name: 'x-delayed-retry-max',
    accepts: anything,
    on: { quorum: 18 },
    policy: 'delayed-retry-max',
    operator: true,
    setting: 'delayedRetryMax',
    merge: 'minimum',
    needs: 'delayedRetry',
  },
  { name: 'x-queue-master-locator', accepts: anything, on: { classic: 13 }, policy: 'queue-master-locator' },
  // Of streams, which are no part of this broker; known, so that other queues refuse them as RabbitMQ does.
  { name: 'x-max-age', accepts: anything, on: {}, policy: 'max-age' },
  { name: 'x-stream-max-segment-size-bytes', accepts: anything, on: {}, policy: 'stream-max-segment-size-bytes' },
  { name: 'x-initial-cluster-size', accepts: anything, on: {}, policy: 'initial-cluster-size' },
];

const argumentsByName: ReadonlyMap<string, QueueArgument> = new Map(queueArguments.map((row) => [row.name, row]));

/** Undefined for an argument that this RabbitMQ does not know. */
export function queueArgument(name: string, profile: Profile): QueueArgument | undefined {
  const row = argumentsByName.get(name);
  return row !== undefined && isKnown(row, profile) ? row : undefined;
}

export const isKnown = (row: QueueArgument, profile: Profile): boolean => row.needs === undefined || profile[row.needs];
