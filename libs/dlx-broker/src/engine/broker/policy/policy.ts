import { maxNesting } from '../../message/index.js';
import type { Policy, QueueType } from '../declarations.js';
import { erlangJson, erlangString } from '../erlang-terms.js';
import { type MatchCost, type Matcher, PatternError, type Patterns } from '../patterns.js';
import { defaultProfile, type Profile, profiles } from '../profile.js';
import { anything, key, oneOf, type PolicyKey, positive, type QueueArgument, text } from '../queue/argument-row.js';
import { isKnown, queueArguments } from '../queue/arguments.js';

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
function policyKey(name: string, operator: boolean, profile: Profile): PolicyKey | undefined {
  const row = policyKeys.get(name);
  if (row === undefined || (row.argument !== undefined && !isKnown(row.argument, profile))) return undefined;
  return operator && row.argument?.operator !== true ? undefined : row.key;
}

/** The error of values that are valid one by one but not together; undefined if there is none (rule W7). */
function wrongTogether(definition: ReadonlyMap<string, unknown>): string | undefined {
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
function supportsAll(type: QueueType, keys: Iterable<string>): boolean {
  for (const name of keys) {
    const row = policyKeys.get(name);
    if (row !== undefined && !applies(row, type)) return false;
  }
  return true;
}

/** A policy, and what it applies to. */
interface Ranked {
  readonly policy: Policy;
  readonly matcher: Matcher;
  readonly fits: Readonly<Record<QueueType, boolean>>;
}

/** The highest priority first, and then by name (rule F7). */
export const byRank = ({ policy: one }: Ranked, { policy: other }: Ranked): number =>
  other.priority - one.priority || (one.name < other.name ? -1 : 1);

/**
 * The policies by rank. They are found by the beginnings of names: a policy with the pattern `^orders\.` is looked at only for names that
 * begin with `orders.`, so that many such policies cost a name no more than one.
 */
class Ranking {
  readonly #byStart = new Map<string, Ranked[]>();
  readonly #lengths: readonly number[];

  constructor(policies: Iterable<Ranked>) {
    for (const ranked of [...policies].sort(byRank)) {
      const start = ranked.matcher.start ?? '';
      if (this.#byStart.get(start)?.push(ranked) === undefined) this.#byStart.set(start, [ranked]);
    }
    this.#lengths = [...new Set([...this.#byStart.keys()].map(({ length }) => length))];
  }

  /** The first policy by rank for which the test is true. The test includes the match of the pattern. */
  first(name: string, test: (ranked: Ranked) => boolean): Ranked | undefined {
    let best: Ranked | undefined;
    for (const length of this.#lengths) {
      if (length > name.length) continue;
      for (const ranked of this.#byStart.get(name.slice(0, length)) ?? []) {
        if (best !== undefined && byRank(best, ranked) < 0) break;
        if (!test(ranked)) continue;
        best = ranked;
        break;
      }
    }
    return best;
  }
}

/** A policy as a client sends it; {@link Policies.set} checks every part. */
export interface PolicyRequest {
  readonly pattern: unknown;
  /** A Map or a plain object of policy keys. */
  readonly definition: unknown;
  /** Default `all`. */
  readonly applyTo?: unknown;
  /** Default 0; of several policies that match, the highest applies (rule F7). */
  readonly priority?: unknown;
}

/** An invalid policy; the message is RabbitMQ's (rule F13). */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
}

function areAlike(one: Policy, other: Policy): boolean {
  const { pattern, applyTo, priority, definition } = one;
  if (pattern !== other.pattern || applyTo !== other.applyTo || priority !== other.priority) return false;
  if (definition.size !== other.definition.size) return false;
  for (const [key, value] of definition) if (other.definition.get(key) !== value) return false;
  return true;
}

/** With more changed policies, a queue is matched anew by the beginning of its name. */
const fewChanges = 16;

/** The policies of one virtual host: those of its users, or those of the operator (rule F12). */
export class Policies {
  readonly #patterns: Patterns;
  readonly #operator: boolean;
  readonly #profile: Profile;
  readonly #byName = new Map<string, Ranked>();
  /** Undefined after a change. */
  #ranking: Ranking | undefined;
  /** Policies that were set since {@link applied}. */
  readonly #changed = new Set<string>();

  constructor(patterns: Patterns, kind: 'user' | 'operator' = 'user', profile: Profile = profiles[defaultProfile]) {
    this.#patterns = patterns;
    this.#profile = profile;
    this.#operator = kind === 'operator';
  }

  /**
   * Sets a policy. An identical policy keeps its object (rule B12).
   * @throws PolicyError with a line for each error
   */
  set(name: string, request: PolicyRequest): 'created' | 'changed' {
    for (const part of ['pattern', 'definition'] as const) {
      if (request[part] === undefined) throw new PolicyError(`[{key_missing,${part}}]`);
    }
    const { pattern, applyTo = 'all', priority = 0 } = request;
    const definition = entriesOf(request.definition);
    const matcher = this.#compile(pattern);
    const wrong = [
      wrongDefinition(definition, this.#operator, this.#profile),
      isTooDeep(request.definition, 0) ? `definition is nested more than ${maxNesting} levels deep` : undefined,
      wrongApplyTo(applyTo, this.#profile),
      typeof matcher === 'string' ? matcher : undefined,
      typeof priority === 'number' ? undefined : `priority should be a number, actually was ${erlangJson(priority)}`,
    ].filter((line) => line !== undefined);
    if (wrong.length > 0 || definition === undefined || typeof matcher === 'string') {
      throw new PolicyError(`Validation failed\n\n${wrong.join('\n')}\n`);
    }
    const policy = { name, pattern, applyTo, priority, definition } as Policy;
    const keys = [...definition.keys()];
    const fits = { classic: supportsAll('classic', keys), quorum: supportsAll('quorum', keys) };
    const before = this.#byName.get(name);
    if (before !== undefined && areAlike(before.policy, policy)) return 'changed';
    this.#byName.set(name, { policy, matcher, fits });
    this.#ranking = undefined;
    this.#changed.add(name);
    return before === undefined ? 'created' : 'changed';
  }

  /** @returns false if there is no such policy */
  delete(name: string): boolean {
    this.#ranking = undefined;
    return this.#byName.delete(name);
  }

  get(name: string): Policy | undefined {
    return this.#byName.get(name)?.policy;
  }

  list(): readonly Policy[] {
    return [...this.#byName.values()].map((each) => each.policy);
  }

  /** The policy that applies to a queue (rules F7, F8). */
  matchQueue(name: string, type: QueueType, cost?: MatchCost): Policy | undefined {
    if (this.#byName.size === 0) return undefined;
    const test = (ranked: Ranked): boolean => fitsQueue(ranked, type) && ranked.matcher.matches(name, cost);
    return this.#ranks.first(name, test)?.policy;
  }

  /**
   * The same for a queue whose policy was right before the changes since {@link applied}: only the changed policies are matched, unless
   * its policy is one of them or they are many.
   */
  rematchQueue(before: Policy | undefined, name: string, type: QueueType, cost?: MatchCost): Policy | undefined {
    let best = before && this.#byName.get(before.name);
    if (best?.policy !== before || this.#changed.size > fewChanges) return this.matchQueue(name, type, cost);
    for (const changed of this.#changed) {
      const ranked = this.#byName.get(changed);
      if (ranked === undefined || (best !== undefined && byRank(best, ranked) <= 0)) continue;
      if (fitsQueue(ranked, type) && ranked.matcher.matches(name, cost)) best = ranked;
    }
    return best?.policy;
  }

  /** The policies of all queues are right. */
  applied(): void {
    this.#changed.clear();
  }

  /** The policy that applies to an exchange. Keys for queues have no effect on it. */
  matchExchange(name: string, cost?: MatchCost): Policy | undefined {
    if (this.#byName.size === 0 || this.#operator) return undefined;
    const test = ({ policy: { applyTo }, matcher }: Ranked): boolean =>
      (applyTo === 'all' || applyTo === 'exchanges') && matcher.matches(name, cost);
    return this.#ranks.first(name, test)?.policy;
  }

  get #ranks(): Ranking {
    return (this.#ranking ??= new Ranking(this.#byName.values()));
  }

  /** The compiled pattern, or the error of an invalid one. */
  #compile(pattern: unknown): Matcher | string {
    if (typeof pattern !== 'string') return `pattern should be a binary but was ${erlangJson(pattern)}`;
    try {
      return this.#patterns.compile(pattern);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      return `pattern should be regular expression but is invalid: ${faultTerm(error)}`;
    }
  }
}

/** The fault as RabbitMQ writes it: a longer term has the position in a line of its own. */
function faultTerm({ reason, position }: PatternError): string {
  const text = erlangString(reason);
  const isLong = text.length + String(position).length > 22;
  return `{${text},${isLong ? `\n${' '.repeat(54)}` : ''}${position}}`;
}

const fitsQueue = ({ policy: { applyTo }, fits }: Ranked, type: QueueType): boolean =>
  (applyTo === 'all' || applyTo === 'queues' || applyTo === `${type}_queues`) && fits[type];

const applyTos: readonly unknown[] = ['queues', 'exchanges', 'all'];
const moreApplyTos: readonly unknown[] = [...applyTos, 'classic_queues', 'quorum_queues', 'streams'];

function wrongApplyTo(applyTo: unknown, { appliesToQueueTypes }: Profile): string | undefined {
  if ((appliesToQueueTypes ? moreApplyTos : applyTos).includes(applyTo)) return undefined;
  const wrong = `apply-to '${String(applyTo)}' unrecognised; should be`;
  if (!appliesToQueueTypes) return `${wrong} 'queues', 'exchanges' or 'all'`;
  return `${wrong} one of: 'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'`; // rule W13
}

/** The entries of a definition, sorted by name: the order in which RabbitMQ checks them. */
function entriesOf(definition: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition)) return undefined;
  const entries: [string, unknown][] = definition instanceof Map ? [...definition] : Object.entries(definition);
  return new Map(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** True above the depth that this broker can show and store. RabbitMQ has no limit. */
function isTooDeep(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth > maxNesting) return true;
  const parts: Iterable<unknown> = value instanceof Map ? value.values() : Object.values(value);
  for (const part of parts) if (isTooDeep(part, depth + 1)) return true;
  return false;
}

/** The error of the first refused value, or else of all unknown keys. */
function wrongDefinition(
  definition: ReadonlyMap<string, unknown> | undefined,
  operator: boolean,
  profile: Profile,
): string | undefined {
  if (definition === undefined) return 'definition should be an object of policy settings';
  if (definition.size === 0) return 'no policy provided';
  const unknown: string[] = [];
  for (const [name, value] of definition) {
    const known = policyKey(name, operator, profile);
    if (known === undefined) unknown.push(`{${erlangJson(name)},${erlangJson(value)}}`);
    else if (!known.accepts(value, profile)) return `${erlangJson(value)} ${known.refusal}`;
  }
  if (unknown.length === 0) return wrongTogether(definition);
  return `[${unknown.join(',')}] are not recognised policy settings`;
}
