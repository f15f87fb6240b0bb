import { maxNesting } from '../../message/index.js';
import type { Policy, QueueType } from '../declarations.js';
import { erlangJson, erlangString } from '../erlang-terms.js';
import { PatternError } from '../patterns.js';
import type { MatchCost, Matcher, Patterns } from '../patterns.js';
import { policyKey, supportsAll, wrongTogether } from './policy-keys.js';
import { type Profile, profiles } from '../profile.js';
import { byRank, type Ranked, Ranking } from './ranking.js';

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

  constructor(patterns: Patterns, kind: 'user' | 'operator' = 'user', profile: Profile = profiles['3.10']) {
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
