import { type Patterns, policyKeyNames } from '../../../engine/broker/index.js';
import { nearestWord } from '../../../platform/options/index.js';
import type { QueueDeclaration } from '../../topology/index.js';
import { ServerError, shownDifference, type TopologyDifference, TopologyError } from '../../errors.js';
import { callManagement, readAnswer } from '../call-management.js';
import type { RabbitMqPolicy } from '../options.js';
import type { Warn } from '../warn.js';
import type { ManagementPlace } from './existing.js';
import { type PolicyConflict, policyConflicts, type ShownPolicy } from './policies.js';

/** The policies of an application, and how conflicts with others are reported. */
export interface PolicyRules {
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
        this.rules.warn(`${textOf(queue, conflict)}; ${remedy}`, 'policyConflict');
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

function textOf({ name, origin }: QueueDeclaration, { policy, key, value, asked, effect }: PolicyConflict): string {
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
    const meant = nearestWord(key, policyKeyNames);
    if (meant !== undefined) return `; did you mean '${meant}'?`;
  }
  return '';
}
