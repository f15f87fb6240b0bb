import { type Queue, type SettingSource, settingSources } from '../../../engine/broker/index.js';
import { fieldToJson } from '../../api/field-json.js';

/** The name of the policy that gives a value; null for an argument and a default. */
function policyOf({ inForce: { policy, operatorPolicy } }: Queue, by: SettingSource['by']): string | null {
  if (by === 'policy') return policy?.name ?? null;
  return by === 'operator policy' ? (operatorPolicy?.name ?? null) : null;
}

/** The settings by which a queue acts, each with its source and with the values that another one overrides. */
export const settingsToJson = (queue: Queue): readonly object[] =>
  sourcesOf(queue).map((source) => ({
    key: source.key,
    value: valueOf(queue, source, source),
    source: source.by,
    name: policyOf(queue, source.by),
    overridden: source.overridden.map((given) => ({
      value: valueOf(queue, source, given),
      source: given.by,
      name: policyOf(queue, given.by),
    })),
    effect: source.hasEffect,
  }));

export const sourcesOf = (queue: Queue): readonly SettingSource[] => settingSources(queue, queue.home.profile);

/** Where a setting comes from, as a string for people. */
export function sourceText(queue: Queue, by: SettingSource['by']): string {
  const policy = policyOf(queue, by);
  return policy === null ? by : `${by} ${policy}`;
}

/** A value as JSON. An argument without effect may be of any type, and JSON has not all of them. */
function valueOf(
  { declared }: Queue,
  { key, hasEffect }: SettingSource,
  { value, by }: Pick<SettingSource, 'value' | 'by'>,
): unknown {
  const field = hasEffect || by !== 'argument' ? undefined : declared.arguments.get(`x-${key}`);
  return field === undefined ? (value ?? null) : fieldToJson(field);
}
