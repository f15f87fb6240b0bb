import type { Profile } from '../profile.js';
import { fromField } from '../../message/index.js';
import type { QueueDeclared } from '../declarations.js';
import { isKnown, queueArguments } from './arguments.js';
import { type Definition, type Giver, givenValues, type InForce, mergeFor, type Value } from './settings.js';

/** A value of a setting, and its source. */
export interface GivenSetting {
  readonly value: unknown;
  readonly by: Giver;
}

/** A setting of a queue, and where it comes from. */
export interface SettingSource {
  /** The name of the policy key, or of the argument without `x-`. */
  readonly key: string;
  /** The value that takes effect; undefined for none. */
  readonly value: unknown;
  readonly by: Giver | 'default';
  /** Further given values, which have no effect. */
  readonly overridden: readonly GivenSetting[];
  /** False for a key that is accepted and does nothing in this broker. */
  readonly hasEffect: boolean;
}

/** What {@link settingSources} needs of a queue. */
interface SetQueue {
  readonly declared: QueueDeclared;
  readonly inForce: InForce;
}

/** Which giver is named where several give the same value. */
const argumentFirst: readonly Giver[] = ['argument', 'policy', 'operator policy'];
const policyFirst: readonly Giver[] = ['operator policy', 'policy', 'argument'];

/**
 * Every setting of a queue with its source: those that queues of its type have, and then keys without effect that an argument or
 * a policy gives (rules F3, F4, F12). The values are those of the queue; nothing is merged again.
 */
export function settingSources(queue: SetQueue, profile: Profile): readonly SettingSource[] {
  return [...effective(queue, profile), ...withoutEffect(queue, profile)];
}

function effective({ declared, inForce }: SetQueue, profile: Profile): readonly SettingSource[] {
  const { type, arguments: args } = declared;
  const found: SettingSource[] = [];
  for (const row of queueArguments) {
    const { setting } = row;
    if (setting === undefined || row.on[type] === undefined || !isKnown(row, profile)) continue;
    const values = givenValues(row, args, inForce.policy?.definition, inForce.operatorPolicy?.definition, profile);
    const value = inForce.settings[setting];
    const order = mergeFor(row, type) === 'policy' ? policyFirst : argumentFirst;
    const by = order.find((giver) => takesEffect(values[giver], value)) ?? 'default';
    const overridden = order
      .filter((giver) => giver !== by && values[giver] !== undefined)
      .map((giver) => ({ value: values[giver], by: giver }));
    found.push({ key: keyOf(row), value, by, overridden, hasEffect: true });
  }
  return found;
}

/** Whether a given value is the one that takes effect. A negative limit takes effect as no limit (rule W6). */
const takesEffect = (given: Value | undefined, value: unknown): boolean =>
  given !== undefined && (given === value || (value === undefined && typeof given === 'number' && given < 0));

function* withoutEffect({ declared, inForce }: SetQueue, profile: Profile): Iterable<SettingSource> {
  const { type, arguments: args } = declared;
  const { policy, operatorPolicy } = inForce;
  const acting = new Set<string>();
  const named = new Set<string>();
  for (const row of queueArguments) {
    if (row.setting !== undefined && row.on[type] !== undefined && isKnown(row, profile)) acting.add(keyOf(row));
    else if (row.name !== 'x-queue-type' && args.has(row.name)) named.add(keyOf(row));
  }
  for (const key of [...keysOf(policy?.definition), ...keysOf(operatorPolicy?.definition)]) {
    if (!acting.has(key)) named.add(key);
  }
  for (const key of named) {
    const field = args.get(`x-${key}`);
    const given = [
      { by: 'argument', value: field && fromField(field) },
      { by: 'policy', value: policy?.definition.get(key) },
      { by: 'operator policy', value: operatorPolicy?.definition.get(key) },
    ] as const;
    const [first, ...overridden] = given.filter(({ value }) => value !== undefined);
    if (first !== undefined) yield { key, ...first, overridden, hasEffect: false };
  }
}

const keysOf = (definition: Definition | undefined): Iterable<string> => definition?.keys() ?? [];

const keyOf = ({ name, policy }: (typeof queueArguments)[number]): string => policy?.name ?? name.replace(/^x-/, '');
