import { type Patterns, policyKeyNames, refusesWhenFull } from '../../../engine/broker/index.js';
import type { FieldTable } from '../../../engine/message/index.js';
import { didYouMean } from '../../../platform/options/index.js';
import { ServerError, shownDifference, type TopologyDifference, TopologyError } from '../../errors.js';
import type { QueueDeclaration } from '../../topology/index.js';
import { callManagement, readAnswer } from '../management.js';
import type { RabbitMqPolicy, Warn } from '../options.js';
import type { ManagementPlace } from './existing.js';

/** A policy, or an operator policy, as the management API shows it. */
export interface ShownPolicy {
  readonly name: string;
  readonly pattern: string;
  readonly 'apply-to': string;
  readonly priority: number;
  readonly definition: Readonly<Record<string, unknown>>;
  readonly isOperator: boolean;
}

/** A key of a policy that changes what a queue needs. */
interface PolicyConflict {
  readonly policy: ShownPolicy;
  readonly key: string;
  readonly value: unknown;
  /** The argument of the declaration, as text; `none` when it has none. */
  readonly asked: string;
  /** What comes of it. */
  readonly effect: string;
}

/** Of a number in an argument and one in a policy the lower counts. */
const lowered: Readonly<Record<string, string>> = {
  'delivery-limit': 'messages leave the queue after fewer deliveries',
  'message-ttl': 'messages expire earlier',
  expires: 'the queue is deleted earlier',
  'max-length': 'the queue takes fewer messages',
  'max-length-bytes': 'the queue takes fewer bytes',
};

/**
 * Finds what the policies of a virtual host do to a queue that its declaration does not want: numbers below the declared ones, the
 * deletion of a queue that may be unused, messages that vanish without a dead-letter exchange, another way back out of a wait queue.
 * Limits of a queue that dead-letters are no conflict: they are what policies are for.
 */
export function policyConflicts(
  queue: QueueDeclaration,
  policies: readonly ShownPolicy[],
  patterns: Patterns,
): readonly PolicyConflict[] {
  const applied = [false, true].flatMap((isOperator) => strongest(queue, policies, isOperator, patterns) ?? []);
  return applied.flatMap((policy) =>
    Object.entries(policy.definition).flatMap(([key, value]) => {
      const effect = effectOf(queue.arguments, policy.definition, key, value);
      return effect === undefined ? [] : [{ policy, key, value, asked: shown(queue.arguments, key), effect }];
    }),
  );
}

/** One policy of each kind applies: the one with the highest priority. */
function strongest(
  { name, arguments: args }: QueueDeclaration,
  policies: readonly ShownPolicy[],
  isOperator: boolean,
  patterns: Patterns,
): ShownPolicy | undefined {
  const type = argumentText(args, 'x-queue-type') ?? 'classic';
  const places = new Set(['all', 'queues', `${type}_queues`]);
  let best: ShownPolicy | undefined;
  for (const policy of policies) {
    if (policy.isOperator !== isOperator || !places.has(policy['apply-to'])) continue;
    if (type === 'classic' && Object.keys(policy.definition).some((key) => quorumKeys.has(key))) continue;
    if (best !== undefined && best.priority >= policy.priority) continue;
    if (matches(patterns, policy.pattern, name)) best = policy;
  }
  return best;
}

/** A policy with one of these keys does not apply to classic queues at all. */
const quorumKeys: ReadonlySet<string> = new Set(['delivery-limit', 'dead-letter-strategy', 'max-in-memory-length']);

function matches(patterns: Patterns, pattern: string, name: string): boolean {
  try {
    return patterns.compile(pattern).matches(name);
  } catch {
    return false; // a pattern that only the server's engine understands
  }
}

function effectOf(
  args: FieldTable,
  definition: ShownPolicy['definition'],
  key: string,
  value: unknown,
): string | undefined {
  const asked = args.get(`x-${key}`)?.value;
  const isLower = typeof value === 'number' && asked !== undefined && value < Number(asked);
  if (isLower && lowered[key] !== undefined) return lowered[key];
  if (asked !== undefined) return undefined;
  const isDying = args.has('x-dead-letter-exchange') || definition['dead-letter-exchange'] !== undefined;
  const isWaiting = args.has('x-message-ttl') && args.has('x-dead-letter-exchange');
  switch (key) {
    case 'expires':
      return 'the queue is deleted with its messages when it is unused';
    case 'message-ttl':
      return isDying ? undefined : 'messages vanish when they expire, because the queue has no dead-letter exchange';
    case 'max-length':
    case 'max-length-bytes':
      if (isRefusing(args, definition)) return undefined;
      if (isWaiting) return 'messages that wait are dead-lettered before their time';
      return isDying ? undefined : 'messages vanish when the queue is full, because it has no dead-letter exchange';
    case 'dead-letter-routing-key':
      return isWaiting ? 'messages do not return to the queue from which they came' : undefined;
    case 'overflow':
      if (argumentText(args, 'x-dead-letter-strategy') !== 'at-least-once' || value === 'reject-publish')
        return undefined;
      return 'dead letters may be lost, because at-least-once needs reject-publish';
    default:
      return undefined;
  }
}

/** True if a full queue refuses messages, so that none vanishes. */
const isRefusing = (args: FieldTable, definition: ShownPolicy['definition']): boolean =>
  refusesWhenFull(argumentText(args, 'x-overflow') ?? definition['overflow']);

const argumentText = (args: FieldTable, name: string): string | undefined => {
  const field = args.get(name);
  return field?.type === 'S' ? field.value : undefined;
};

const shown = (args: FieldTable, key: string): string => {
  const field = args.get(`x-${key}`);
  return field === undefined ? 'none' : String(field.value);
};

/** The policies of an application, and how conflicts with others are reported. */
interface PolicyRules {
  /** The policies that the application puts itself. They are no conflict. */
  readonly own: readonly RabbitMqPolicy[];
  readonly patterns: Patterns;
  /** True: the caller fails for what is found, so there is no warning. */
  readonly isStrict: boolean;
  readonly warn: Warn;
}

/** Puts policies through the management API, and finds those that change what declared queues need. */
export class Policies {
  #arePut = false;
  /** Queues that were looked at. */
  readonly #known = new Set<string>();
  /** The status of the answer that the last warning was about. A start declares several times, and one warning is enough. */
  #warned: number | undefined;

  constructor(private readonly rules: PolicyRules) {}

  /** Puts the policies of the application, once. @throws ServerError that names the policy */
  async put(place: ManagementPlace): Promise<void> {
    if (this.#arePut) return;
    for (const { name, pattern, applyTo = 'queues', definition, priority = 0 } of this.rules.own) {
      const path = ['policies', place.virtualHost, name];
      const body = { pattern, 'apply-to': applyTo, definition, priority };
      try {
        await callManagement(place, 'PUT', path, undefined, body);
      } catch (error) {
        const { message, code } = error as ServerError;
        const what = `policy '${name}' of option 'policies' of rabbitmq() was not put`;
        const hint = code === 400 ? misspeltIn(definition, message) : '';
        throw new ServerError(`${what}: ${message}${hint}`, code, { cause: error });
      }
    }
    this.#arePut = true;
  }

  /**
   * Checks these queues. Only with `isStrict` the caller waits for it.
   * @throws TopologyError with `isStrict`, when a policy changes what a queue needs; ServerError
   */
  async look(place: ManagementPlace, queues: readonly QueueDeclaration[]): Promise<void> {
    const { isStrict, warn } = this.rules;
    const checked = this.check(place, queues);
    if (isStrict) {
      const found = await checked;
      if (found.length > 0) throw refusedPolicies(found);
    } else {
      checked.catch((error: unknown) => {
        const { message, code } = error as ServerError;
        if (code === this.#warned) return;
        this.#warned = code;
        warn(`policies were not checked: ${message}`, 'policiesUnchecked', message);
      });
    }
  }

  /**
   * Looks for policies that change what these queues need, and warns of each. Each queue is looked at once; with `isStrict` each time.
   * @returns what was found
   */
  async check(place: ManagementPlace, queues: readonly QueueDeclaration[]): Promise<readonly TopologyDifference[]> {
    const unknown = queues.filter(({ name }) => !this.#known.has(name));
    if (unknown.length === 0) return [];
    const policies = await shownPolicies(place);
    this.#warned = undefined;
    const own = new Set(this.rules.own.map(({ name }) => name));
    const others = policies.filter(({ name, isOperator }) => isOperator || !own.has(name));
    const found = unknown.flatMap((queue) =>
      policyConflicts(queue, others, this.rules.patterns).map((conflict) => ({ queue, conflict })),
    );
    if (!this.rules.isStrict) {
      for (const { name } of unknown) this.#known.add(name);
      for (const { queue, conflict } of found)
        this.rules.warn(`${conflictText(queue, conflict)}; ${remedy}`, 'policyConflict');
    }
    return found.map(({ queue: { name, origin }, conflict: { policy, key, value, asked } }) => ({
      kind: 'queue',
      name,
      property: `${key} (${kindOf(policy)} '${policy.name}')`,
      existing: String(value),
      asked,
      origin,
    }));
  }
}

/** The error of option `strictPolicies`. */
function refusedPolicies(differences: readonly TopologyDifference[]): TopologyError {
  const lines = differences.map(shownDifference);
  const text = `Policies change what queues need (option 'strictPolicies' of rabbitmq()):\n${lines.join('\n')}\n`;
  return new TopologyError(`${text}${remedy[0]?.toUpperCase()}${remedy.slice(1)}.`, differences);
}

const remedy =
  'exclude the queue from the pattern of the policy, give the queue a policy of a higher priority, or declare it with that argument';

function conflictText(
  { name, origin }: QueueDeclaration,
  { policy, key, value, asked, effect }: PolicyConflict,
): string {
  const by = origin === undefined ? '' : ` (${origin})`;
  const given = `${kindOf(policy)} '${policy.name}' sets ${key} ${String(value)} on queue '${name}'${by}`;
  return `${given}, which was declared with ${asked}: ${effect}`;
}

const kindOf = ({ isOperator }: ShownPolicy): string => (isOperator ? 'operator policy' : 'policy');

async function shownPolicies(place: ManagementPlace): Promise<readonly ShownPolicy[]> {
  const [users, operators] = await Promise.all([
    callManagement(place, 'GET', ['policies', place.virtualHost]),
    callManagement(place, 'GET', ['operator-policies', place.virtualHost]),
  ]);
  const of = (found: unknown, isOperator: boolean): ShownPolicy[] =>
    readAnswer(place, 'the question for policies', () =>
      ((found ?? []) as ShownPolicy[]).map((each) => ({ ...checkedPolicy(each), isOperator })),
    );
  return [...of(users, false), ...of(operators, true)];
}

/** @throws TypeError for what is no policy */
function checkedPolicy(found: ShownPolicy): ShownPolicy {
  const { name, pattern, definition } = found;
  if ([name, pattern, found['apply-to']].some((each) => typeof each !== 'string')) throw new TypeError('no text');
  if (typeof definition !== 'object' || definition === null) throw new TypeError('no definition');
  return found;
}

/** @returns `; did you mean 'max-length'?` for the unknown key that the server names, and that is spelt nearly like a known one */
function misspeltIn(definition: RabbitMqPolicy['definition'], reason: string): string {
  for (const key of Object.keys(definition)) {
    if (policyKeyNames.includes(key) || !reason.includes(key)) continue;
    const hint = didYouMean(key, policyKeyNames);
    if (hint !== '') return hint;
  }
  return '';
}
