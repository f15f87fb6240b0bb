import { type Field, type FieldTable, fromField, integerOf, type Message } from '../../message/index.js';
import type { Policy, QueueDeclared, QueueType } from '../declarations.js';
import { defaultProfile, type Profile, profiles } from '../profile.js';
import type { Merge, QueueArgument } from './argument-row.js';
import { isOn, noSettings, queueArguments, type QueueSettings } from './arguments.js';
import { overflowPolicies } from './overflow.js';

/** Policy keys and their values, as a policy's definition has them. */
type Definition = ReadonlyMap<string, unknown>;

/** The settings of a queue, and the policies that apply to it. */
export interface InForce {
  readonly settings: QueueSettings;
  readonly policy: Policy | undefined;
  readonly operatorPolicy: Policy | undefined;
}

type Values = { -readonly [setting in keyof QueueSettings]: QueueSettings[setting] };

/**
 * Puts checked arguments and validated policies together (rules F3, F4, F12, D2, D11, W6).
 * @param policy the definition of the one policy that applies (rule F7)
 * @param operatorPolicy the definition of the operator policy that applies: a further upper bound for some keys
 */
export function effectiveSettings(
  type: QueueType,
  args: FieldTable,
  policy?: Definition,
  operatorPolicy?: Definition,
  profile: Profile = profiles[defaultProfile],
): QueueSettings {
  const values: Values = { ...noSettings };
  if (args.size > 0 || policy !== undefined || operatorPolicy !== undefined) {
    for (const row of queueArguments) {
      if (row.setting === undefined || !isOn(row, type, profile)) continue;
      const value = merged(row, type, args, policy, operatorPolicy, profile);
      if (value !== undefined) assign(values, row.setting, value);
    }
  }
  if (type === 'quorum') values.deliveryLimit = limitOf(values.deliveryLimit, profile);
  if (type === 'quorum') values.overflow = overflowPolicies[values.overflow].onQuorum; // rule D7
  // rule M1: at-least-once also needs a dead-letter exchange and reject-publish
  if (values.deadLetterExchange === undefined || values.overflow !== 'reject-publish') {
    values.deadLetterStrategy = 'at-most-once';
  }
  return values;
}

/** When a message that is enqueued now expires, by the shorter of both times to live; 0 for never (rule B4). */
export function deadlineOf(message: Message, { messageTtl }: QueueSettings, now: number): number {
  const { expiration } = message;
  if (expiration === undefined) return messageTtl === undefined ? 0 : instant(now + messageTtl);
  const own = Number(expiration);
  return instant(now + (messageTtl === undefined || own < messageTtl ? own : messageTtl));
}

/** A deadline of 0 means never, so time 0 becomes -1. */
const instant = (time: number): number => (time === 0 ? -1 : time);

/** A value of a setting. */
type Value = number | string | boolean;

/** A source of settings: the arguments of the queue, or a policy that applies to it. */
type Giver = 'argument' | 'policy' | 'operator policy';

/** The value of each source for one argument; undefined for no value, and for values that have no effect. */
function givenValues(
  row: QueueArgument,
  args: FieldTable,
  policy: Definition | undefined,
  operatorPolicy: Definition | undefined,
  profile: Profile,
): Readonly<Record<Giver, Value | undefined>> {
  const key = row.policy?.name;
  return {
    argument: argumentValue(row, args.get(row.name), profile),
    policy: key === undefined ? undefined : policyValue(policy?.get(key)),
    'operator policy': key === undefined || row.operator !== true ? undefined : policyValue(operatorPolicy?.get(key)),
  };
}

function merged(
  row: QueueArgument,
  type: QueueType,
  args: FieldTable,
  policy: Definition | undefined,
  operatorPolicy: Definition | undefined,
  profile: Profile,
): Value | undefined {
  const given = givenValues(row, args, policy, operatorPolicy, profile);
  const byPolicies = choose(row.operatorMerge ?? 'minimum', given.policy, given['operator policy']);
  return choose(mergeFor(row, type), given.argument, byPolicies);
}

/** A negative limit means no limit; without a limit the profile's default holds (rule W6). */
function limitOf(limit: number | undefined, profile: Profile): number | undefined {
  if (limit === undefined) return profile.defaultDeliveryLimit;
  return limit < 0 ? undefined : limit;
}

/** How an argument of a queue of this type and its policies are put together. */
const mergeFor = (row: QueueArgument, type: QueueType): Merge =>
  typeof row.merge === 'object' ? row.merge[type] : (row.merge ?? 'argument');

function choose(merge: Merge, argument: Value | undefined, policy: Value | undefined): Value | undefined {
  switch (merge) {
    case 'argument':
      return argument ?? policy;
    case 'policy':
      return policy ?? argument;
    case 'minimum':
      return smaller(argument, policy);
    case 'maximum':
      return greater(argument, policy);
    case 'limit':
      return isNegative(argument) || isNegative(policy) ? greater(argument, policy) : smaller(argument, policy);
  }
}

function smaller(one: Value | undefined, other: Value | undefined): Value | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return other < one ? other : one;
}

function greater(one: Value | undefined, other: Value | undefined): Value | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return other > one ? other : one;
}

const isNegative = (value: Value | undefined): boolean => typeof value === 'number' && value < 0;

/** The settings that are numbers although a declare does not check their arguments. */
const uncheckedNumbers: ReadonlySet<string | undefined> = new Set(['deliveryLimit', 'consumerTimeout']);

function argumentValue(row: QueueArgument, field: Field | undefined, profile: Profile): Value | undefined {
  if (field === undefined) return undefined;
  if (field.type === 'S' || field.type === 't') return uncheckedNumbers.has(row.setting) ? undefined : field.value;
  const number = integerOf(field);
  if (number === undefined) return undefined;
  if (number >= 0) return Number(number);
  if (row.merge !== 'limit') return undefined;
  return profile.negativeLimitIsNone ? Number(number) : 0; // rule D2: one return is above it
}

const policyValue = (value: unknown): Value | undefined =>
  typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean' ? value : undefined;

/** Assigns a value to a setting by name. The check of the argument or the policy key has ensured its type. */
function assign(values: Values, setting: string, value: Value): void {
  (values as Record<string, unknown>)[setting] = value;
}

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
    if (setting === undefined || !isOn(row, type, profile)) continue;
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
    if (row.setting !== undefined && isOn(row, type, profile)) acting.add(keyOf(row));
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
