import { anything, key, oneOf, type PolicyKey, positive, text } from './policy-values.js';
import type { Profile } from '../profile.js';
import type { QueueArgument } from '../queue/argument-row.js';
import { isKnown, queueArguments } from '../queue/arguments.js';
import type { QueueType } from '../declarations.js';

/** The keys that set no queue argument. The keys of mirrored queues (`ha-*`) have no effect. */
const otherKeys: readonly PolicyKey[] = [
  key('alternate-exchange', text, 'alternate exchange name', ['classic', 'quorum']),
  key('ha-mode', oneOf('all', 'exactly', 'nodes'), 'ha-mode value', ['classic']),
  key('ha-params', anything, 'ha-params value', ['classic']),
  key('ha-sync-mode', oneOf('automatic', 'manual'), 'ha-sync-mode value', ['classic']),
  key('ha-sync-batch-size', positive, 'ha-sync-batch-size value', ['classic']),
  key('ha-promote-on-shutdown', oneOf('always', 'when-synced'), 'ha-promote-on-shutdown value', ['classic']),
  key('ha-promote-on-failure', oneOf('always', 'when-synced'), 'ha-promote-on-failure value', ['classic']),
];

/** A key, and the queue argument that it sets, if any. */
interface Row {
  readonly key: PolicyKey;
  readonly argument?: QueueArgument;
}

/** All keys of policies (rules F1, F13). A Map, because the names come from clients. */
const policyKeys: ReadonlyMap<string, Row> = new Map<string, Row>([
  ...queueArguments.flatMap((argument): readonly [string, Row][] =>
    argument.policy === undefined ? [] : [[argument.policy.name, { key: argument.policy, argument }]],
  ),
  ...otherKeys.map((one): [string, Row] => [one.name, { key: one }]),
]);

/** The names of all keys, for a name that is misspelt. */
export const policyKeyNames: readonly string[] = [...policyKeys.keys()];

/** @param operator true for an operator policy, which has few keys (rule F12) */
export function policyKey(name: string, operator: boolean, profile: Profile): PolicyKey | undefined {
  const row = policyKeys.get(name);
  if (row === undefined || (row.argument !== undefined && !isKnown(row.argument, profile))) return undefined;
  return operator && row.argument?.operator !== true ? undefined : row.key;
}

/** The error of values that are valid one by one but not together; undefined if there is none (rule W7). */
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

const applies = ({ key, argument }: Row, type: QueueType): boolean =>
  key.on === undefined ? argument?.on[type] !== undefined : key.on.includes(type);

/** False if the type does not support one of the keys: the policy then applies to no queue of the type (rule F8). */
export function supportsAll(type: QueueType, keys: Iterable<string>): boolean {
  for (const name of keys) {
    const row = policyKeys.get(name);
    if (row !== undefined && !applies(row, type)) return false;
  }
  return true;
}
