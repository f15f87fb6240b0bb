import type { Profile } from './profile.js';
import { isOverflow } from './queue/overflow.js';
import { isKnown, queueArguments } from './queue/arguments.js';
import type { QueueType } from './queue/queue-types.js';

/** A key of a policy's definition. */
export interface PolicyKey {
  /** What stands after the value when it is refused (rule F13). */
  readonly refusal: string;
  accepts(value: unknown): boolean;
}

const natural = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const positive = (value: unknown): boolean => Number.isInteger(value) && (value as number) > 0;
const text = (value: unknown): boolean => typeof value === 'string';
const anything = (): boolean => true;
const oneOf =
  (...values: readonly unknown[]) =>
  (value: unknown) =>
    values.includes(value);

const key = (accepts: (value: unknown) => boolean, what: string): PolicyKey => ({
  accepts,
  refusal: `is not a valid ${what}`,
});

/** Every key a policy may have (rules F1, F13). */
const policyKeys: ReadonlyMap<string, PolicyKey> = new Map([
  ['message-ttl', key(natural, 'message TTL')],
  ['expires', key(positive, 'queue expiry')],
  ['dead-letter-exchange', key(text, 'dead letter exchange name')],
  ['dead-letter-routing-key', key(text, 'dead letter routing key')],
  ['dead-letter-strategy', key(oneOf('at-most-once', 'at-least-once'), 'dead letter strategy')],
  ['max-length', key(natural, 'maximum length')],
  ['max-length-bytes', key(natural, 'maximum length in bytes')],
  ['max-in-memory-length', key(natural, 'maximum memory in bytes')],
  ['max-in-memory-bytes', key(natural, 'maximum memory in bytes')],
  ['overflow', key(isOverflow, 'overflow value')],
  ['delivery-limit', key(natural, 'delivery limit')],
  ['alternate-exchange', key(text, 'alternate exchange name')],
  // Accepted, and without effect here: what they tune does not exist.
  ['queue-mode', key(oneOf('default', 'lazy'), 'queue-mode value')],
  ['queue-version', key(oneOf(1, 2), 'queue-version value')],
  [
    'queue-leader-locator',
    key(oneOf('client-local', 'balanced', 'random', 'least-leaders'), 'queue leader locator value'),
  ],
  [
    'queue-master-locator',
    { accepts: oneOf('min-masters', 'client-local', 'random'), refusal: 'invalid queue-master-locator value' },
  ],
  ['max-age', key(text, 'max age')],
  ['stream-max-segment-size-bytes', key(natural, 'segment size')],
  ['initial-cluster-size', key(positive, 'cluster size')],
  ['ha-mode', key(oneOf('all', 'exactly', 'nodes'), 'ha-mode value')],
  ['ha-params', key(anything, 'ha-params value')],
  ['ha-sync-mode', key(oneOf('automatic', 'manual'), 'ha-sync-mode value')],
  ['ha-sync-batch-size', key(positive, 'ha-sync-batch-size value')],
  ['ha-promote-on-shutdown', key(oneOf('always', 'when-synced'), 'ha-promote-on-shutdown value')],
  ['ha-promote-on-failure', key(oneOf('always', 'when-synced'), 'ha-promote-on-failure value')],
]);

/** Rule W6. */
const anyDeliveryLimit = key(Number.isInteger, 'delivery limit');

const retryTypes = ['all', 'failed', 'returned', 'disabled'] as const;

/** Rule W7. */
const delayedRetryKeys: ReadonlyMap<string, PolicyKey> = new Map([
  ['delayed-retry-type', key(oneOf(...retryTypes), `delayed retry type. Must be one of: ${retryTypes.join(', ')}`)],
  ['delayed-retry-min', key(positive, 'delayed retry minimum delay. Must be a positive integer')],
  ['delayed-retry-max', key(positive, 'delayed retry maximum delay. Must be a positive integer')],
]);

const isOperatorKey = (name: string, profile: Profile): boolean =>
  queueArguments.some((row) => row.policy === name && row.operator === true && isKnown(row, profile));

export function policyKey(name: string, operator: boolean, profile: Profile): PolicyKey | undefined {
  if (operator && !isOperatorKey(name, profile)) return undefined;
  if (name === 'delivery-limit' && profile.negativeLimitIsNone) return anyDeliveryLimit;
  return policyKeys.get(name) ?? (profile.delayedRetry ? delayedRetryKeys.get(name) : undefined);
}

/** What is wrong with values that are right each for itself (rule W7). */
export function wrongTogether(definition: ReadonlyMap<string, unknown>): string | undefined {
  const type = definition.get('delayed-retry-type');
  const min = definition.get('delayed-retry-min') as number | undefined;
  const max = definition.get('delayed-retry-max') as number | undefined;
  if (type !== undefined && type !== 'disabled' && min === undefined) {
    return `delayed-retry-min is required when delayed-retry-type is ${String(type)}`;
  }
  if (min === undefined || max === undefined || max >= min) return undefined;
  return `delayed-retry-max (${max}) must not be smaller than delayed-retry-min (${min})`;
}

/** Rule F8: one key a queue type does not know keeps the whole policy from its queues. */
const unsupported: Readonly<Record<QueueType, ReadonlySet<string>>> = {
  classic: new Set([
    'dead-letter-strategy',
    'delivery-limit',
    'delayed-retry-type',
    'delayed-retry-min',
    'delayed-retry-max',
    'queue-leader-locator',
    'max-age',
    'stream-max-segment-size-bytes',
    'initial-cluster-size',
  ]),
  quorum: new Set([
    'queue-mode',
    'queue-master-locator',
    'max-age',
    'stream-max-segment-size-bytes',
    'initial-cluster-size',
    'ha-mode',
    'ha-params',
    'ha-sync-mode',
    'ha-sync-batch-size',
    'ha-promote-on-shutdown',
    'ha-promote-on-failure',
  ]),
};

export function supportsAll(type: QueueType, keys: Iterable<string>): boolean {
  for (const name of keys) if (unsupported[type].has(name)) return false;
  return true;
}
