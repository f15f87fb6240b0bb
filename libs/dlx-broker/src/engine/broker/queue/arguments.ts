import type { Field, FieldTable } from '../../message/index.js';
import type { QueueType } from '../declarations.js';
import type { Profile } from '../profile.js';
import {
  key,
  limit as anyLimit,
  natural as isNatural,
  oneOf as isOneOf,
  positive as isPositive,
  type QueueArgument,
  text as isText,
} from './argument-row.js';
import {
  anything,
  boolean,
  deadLetterKey,
  natural,
  oneOf,
  positive,
  priority,
  queueVersion,
  text,
  timeToIdle,
  timeToLive,
} from './argument-values.js';
import { type Overflow, overflowNames } from './overflow.js';

const quoting = (what: string) => (value: string) => `"unsupported queue ${what} '${value}'"`;

const max = Number.MAX_SAFE_INTEGER;

const strategies = ['at-most-once', 'at-least-once'] as const;
const modes = ['default', 'lazy'] as const;
const locators = ['client-local', 'balanced', 'random', 'least-leaders'] as const;
const retryTypes = ['all', 'failed', 'returned', 'disabled'] as const;

/** A policy with such a key applies to queues of both types, although one type ignores the key (rule F8). */
const both = ['classic', 'quorum'] as const;

/** A queue without arguments and policies: every setting that an argument or a policy can change. */
const initial = {
  /** Milliseconds. */
  messageTtl: undefined as number | undefined,
  /** Milliseconds without use after which the queue is deleted. */
  expires: undefined as number | undefined,
  deadLetterExchange: undefined as string | undefined,
  deadLetterRoutingKey: undefined as string | undefined,
  deadLetterStrategy: 'at-most-once' as (typeof strategies)[number],
  maxLength: undefined as number | undefined,
  /** Sum of the bodies. */
  maxLengthBytes: undefined as number | undefined,
  overflow: 'drop-head' as Overflow,
  deliveryLimit: undefined as number | undefined,
  /** Which returns are delayed: `all`, `failed` or `returned`; anything else is none (rule W7). */
  delayedRetryType: undefined as string | undefined,
  /** Milliseconds, to be multiplied by the delivery count. */
  delayedRetryMin: undefined as number | undefined,
  /** Milliseconds at most; without it, the minimum always. */
  delayedRetryMax: undefined as number | undefined,
  maxPriority: undefined as number | undefined,
  singleActiveConsumer: false as boolean,
  /** Milliseconds that a delivery may stay unacknowledged. */
  consumerTimeout: undefined as number | undefined,
};

/** The settings of a queue, from its arguments and policies. Replaced as a whole, never changed. */
export type QueueSettings = Readonly<typeof initial>;

export const noSettings: QueueSettings = initial;

/** A row of {@link argumentRows}. */
type Row = QueueArgument & { readonly setting?: keyof QueueSettings };

/**
 * Every queue argument, in the order in which a declare checks them (rule F9). A new argument is a row here, and a line in
 * `initial` if it has an effect: policy keys, decorators, hints for misspelt names and the tables of the docs come from the rows.
 */
export const argumentRows = [
  {
    name: 'x-expires',
    accepts: timeToIdle,
    on: { classic: 1, quorum: 4 },
    policy: key('expires', isPositive, 'queue expiry'),
    operator: true,
    setting: 'expires',
    merge: { classic: 'minimum', quorum: 'policy' },
    written: { is: 'duration', min: 1 },
    says: 'milliseconds without use, at least 1; then the queue is deleted',
  },
  {
    name: 'x-message-ttl',
    accepts: timeToLive,
    on: { classic: 2, quorum: 14 },
    policy: key('message-ttl', isNatural, 'message TTL'),
    operator: true,
    setting: 'messageTtl',
    merge: 'minimum',
    written: { is: 'duration', min: 0 },
    kills: 'expired',
    says: 'milliseconds a message may wait, at least 0',
  },
  {
    name: 'x-dead-letter-exchange',
    accepts: text,
    on: { classic: 3, quorum: 1 },
    policy: key('dead-letter-exchange', isText, 'dead letter exchange name'),
    setting: 'deadLetterExchange',
    merge: 'argument',
    written: { is: 'text' },
    says: 'name of an exchange',
  },
  {
    name: 'x-dead-letter-routing-key',
    accepts: deadLetterKey,
    on: { classic: 4, quorum: 2 },
    policy: key('dead-letter-routing-key', isText, 'dead letter routing key'),
    setting: 'deadLetterRoutingKey',
    merge: 'argument',
    written: { is: 'text' },
    says: 'routing key of dead letters; as argument only with `x-dead-letter-exchange`',
  },
  {
    name: 'x-dead-letter-strategy',
    accepts: oneOf(strategies, () => 'invalid_dlx_strategy'),
    on: { quorum: 3 },
    policy: key('dead-letter-strategy', isOneOf(...strategies), 'dead letter strategy'),
    setting: 'deadLetterStrategy',
    merge: 'argument',
    written: { is: 'word', words: strategies },
    says: '`at-most-once`, `at-least-once`',
  },
  {
    name: 'x-max-length',
    accepts: natural,
    on: { classic: 5, quorum: 5 },
    policy: key('max-length', isNatural, 'maximum length'),
    operator: true,
    setting: 'maxLength',
    merge: 'minimum',
    written: { is: 'whole', min: 0, max },
    kills: 'maxlen',
    says: 'ready messages, at least 0',
  },
  {
    name: 'x-max-length-bytes',
    accepts: natural,
    on: { classic: 6, quorum: 6 },
    policy: key('max-length-bytes', isNatural, 'maximum length in bytes'),
    operator: true,
    setting: 'maxLengthBytes',
    merge: 'minimum',
    written: { is: 'whole', min: 0, max },
    kills: 'maxlen',
    says: 'bytes of the bodies of ready messages, at least 0',
  },
  {
    name: 'x-max-in-memory-length',
    accepts: natural,
    on: { quorum: 7 },
    policy: key('max-in-memory-length', isNatural, 'maximum memory in bytes', both),
    operator: true,
  },
  {
    name: 'x-max-in-memory-bytes',
    accepts: natural,
    on: { quorum: 8 },
    policy: key('max-in-memory-bytes', isNatural, 'maximum memory in bytes', both),
    operator: true,
  },
  {
    name: 'x-max-priority',
    accepts: priority,
    on: { classic: 7 },
    setting: 'maxPriority',
    merge: 'argument',
    written: { is: 'whole', min: 1, max: 255 },
    says: '1 to 255',
  },
  {
    name: 'x-overflow',
    accepts: oneOf(overflowNames, () => 'invalid_overflow'),
    on: { classic: 8, quorum: 9 },
    policy: key('overflow', isOneOf(...overflowNames), 'overflow value'),
    setting: 'overflow',
    merge: { classic: 'argument', quorum: 'policy' },
    written: { is: 'word', words: overflowNames },
    says: `${overflowNames.map((name) => `\`${name}\``).join(', ')}, see [limits](../guide/limits.md)`,
  },
  {
    name: 'x-queue-mode',
    accepts: oneOf(modes, quoting('mode')),
    on: { classic: 9 },
    since43: { accepts: anything },
    policy: key('queue-mode', isOneOf(...modes), 'queue-mode value'),
  },
  {
    name: 'x-queue-version',
    accepts: queueVersion,
    on: { classic: 10 },
    policy: key('queue-version', isOneOf(1, 2), 'queue-version value', both),
  },
  {
    name: 'x-single-active-consumer',
    accepts: boolean,
    on: { classic: 11, quorum: 10 },
    setting: 'singleActiveConsumer',
    merge: 'argument',
    written: { is: 'flag' },
    says: 'true or false',
  },
  // A declare checks it first (argument-checks.ts), and compares it last.
  {
    name: 'x-queue-type',
    accepts: oneOf(both, quoting('type')),
    on: { classic: 12, quorum: 11 },
    since43: { accepts: oneOf([...both, '', 'undefined'], quoting('type')) },
    written: { is: 'word', words: ['quorum'] },
    says: '`classic`, `quorum`',
  },
  { name: 'x-quorum-initial-group-size', accepts: positive, on: { quorum: 12 } },
  {
    name: 'x-queue-leader-locator',
    accepts: oneOf(locators, () => 'invalid_queue_locator_arg'),
    on: { quorum: 15 },
    since43: { on: 'classic' },
    policy: key('queue-leader-locator', isOneOf(...locators), 'queue leader locator value'),
  },
  {
    // 3.10 does not check the value: a limit that is no number is no limit, and a negative one is as good as 0 (rule D2).
    name: 'x-delivery-limit',
    accepts: anything,
    on: { quorum: 13 },
    policy: key('delivery-limit', anyLimit, 'delivery limit'),
    operator: true,
    setting: 'deliveryLimit',
    merge: 'limit',
    operatorMerge: 'limit',
    written: { is: 'whole', min: 0, max },
    kills: 'delivery_limit',
    says: 'deliveries that may fail, at least 0',
  },
  // A declare does not check these three: an unknown type, or a value that is no positive number, delays nothing.
  {
    name: 'x-delayed-retry-type',
    accepts: anything,
    on: { quorum: 16 },
    policy: key(
      'delayed-retry-type',
      isOneOf(...retryTypes),
      `delayed retry type. Must be one of: ${retryTypes.join(', ')}`,
    ),
    operator: true,
    setting: 'delayedRetryType',
    merge: 'policy',
    operatorMerge: 'policy',
    isNewIn43: true,
    says: "only with `rabbitmq: '4'`, see [profiles](profiles.md#delayed-retry-rule-w7)",
  },
  {
    name: 'x-delayed-retry-min',
    accepts: anything,
    on: { quorum: 17 },
    policy: key('delayed-retry-min', isPositive, 'delayed retry minimum delay. Must be a positive integer'),
    operator: true,
    setting: 'delayedRetryMin',
    merge: 'minimum',
    operatorMerge: 'maximum',
    isNewIn43: true,
    says: 'the same: milliseconds',
  },
  {
    name: 'x-delayed-retry-max',
    accepts: anything,
    on: { quorum: 18 },
    policy: key('delayed-retry-max', isPositive, 'delayed retry maximum delay. Must be a positive integer'),
    operator: true,
    setting: 'delayedRetryMax',
    merge: 'minimum',
    isNewIn43: true,
    says: 'the same: milliseconds',
  },
  {
    name: 'x-consumer-timeout',
    accepts: natural,
    on: { quorum: 19 },
    policy: key('consumer-timeout', isNatural, 'consumer timeout', both),
    setting: 'consumerTimeout',
    merge: 'minimum',
    isNewIn43: true,
    says: "only with `rabbitmq: '4'`: milliseconds that a delivery may stay unacknowledged, see [profiles](profiles.md#consumer-timeouts-rule-q8)",
  },
  { name: 'x-consumer-disconnected-timeout', accepts: natural, on: { quorum: 20 }, isNewIn43: true },
  {
    name: 'x-queue-master-locator',
    accepts: anything,
    on: { classic: 13 },
    policy: {
      name: 'queue-master-locator',
      accepts: isOneOf('min-masters', 'client-local', 'random'),
      refusal: 'invalid queue-master-locator value',
    },
  },
  // Arguments of streams, which this broker does not have. Its queues refuse them, as RabbitMQ's do.
  { name: 'x-max-age', accepts: anything, on: {}, policy: key('max-age', isText, 'max age') },
  {
    name: 'x-stream-max-segment-size-bytes',
    accepts: anything,
    on: {},
    policy: key('stream-max-segment-size-bytes', isNatural, 'segment size'),
  },
  { name: 'x-stream-filter-size-bytes', accepts: anything, on: {}, isNewIn43: true },
  {
    name: 'x-initial-cluster-size',
    accepts: anything,
    on: {},
    policy: key('initial-cluster-size', isPositive, 'cluster size'),
  },
] as const satisfies readonly Row[];

export const queueArguments: readonly Row[] = argumentRows;

const argumentsByName: ReadonlyMap<string, QueueArgument> = new Map(queueArguments.map((row) => [row.name, row]));

/** The row of an argument; undefined for an argument that the RabbitMQ of the profile does not know. */
export function queueArgument(name: string, profile: Profile): QueueArgument | undefined {
  const row = argumentsByName.get(name);
  return row !== undefined && isKnown(row, profile) ? row : undefined;
}

export const isKnown = (row: QueueArgument, profile: Profile): boolean => profile.checksAs43 || row.isNewIn43 !== true;

/** Whether a queue type knows the argument in a profile. */
export const isOn = (row: QueueArgument, type: QueueType, profile: Profile): boolean =>
  isKnown(row, profile) && (row.on[type] !== undefined || (profile.checksAs43 && row.since43?.on === type));

/** What is wrong with the value of an argument in a profile; undefined if nothing is. */
export const wrongValue = (row: QueueArgument, value: Field, all: FieldTable, profile: Profile): string | undefined =>
  (profile.checksAs43 ? (row.since43?.accepts ?? row.accepts) : row.accepts)(value, all);
