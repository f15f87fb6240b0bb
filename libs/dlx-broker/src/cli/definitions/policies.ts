import { queueArguments } from '../../engine/broker/index.js';
import { policyPatterns } from '../../platform/index.js';
import { type Definitions, objectOf, type Row, rowsIn, textOf } from './rows.js';

interface Applied {
  readonly vhost: string;
  readonly priority: number;
  readonly definition: Row;
  matches(queue: string): boolean;
}

const policyKeys: ReadonlyMap<string, string> = new Map(
  queueArguments.flatMap(({ name, policy }) => (policy === undefined ? [] : [[name, policy.name] as const])),
);

/** Finds what policies set for a queue: the best of the users' and the best of the operators', as the broker does (rule F7). */
export class PoliciesOf {
  readonly #user: readonly Applied[];
  readonly #operator: readonly Applied[];

  constructor(definitions: Definitions) {
    const operators = rowsIn(definitions, 'parameters').filter((row) => textOf(row, 'component') === 'operator_policy');
    this.#user = rowsIn(definitions, 'policies').flatMap((row) => appliedOf(row, row));
    this.#operator = operators.flatMap((row) => appliedOf(row, objectOf(row, 'value')));
  }

  /** @param argument such as `x-overflow` @returns what a policy sets in its place; undefined for nothing */
  value(vhost: string, queue: string, argument: string): unknown {
    const key = policyKeys.get(argument);
    if (key === undefined) return undefined;
    const [user, operator] = [this.#user, this.#operator].map((list) => best(list, vhost, queue)?.definition[key]);
    return user ?? operator;
  }
}

function best(list: readonly Applied[], vhost: string, queue: string): Applied | undefined {
  let found: Applied | undefined;
  for (const each of list) {
    if (each.vhost !== vhost || (found !== undefined && found.priority >= each.priority)) continue;
    if (each.matches(queue)) found = each;
  }
  return found;
}

function appliedOf(place: Row, policy: Row): readonly Applied[] {
  const applyTo = policy['apply-to'] ?? 'all';
  if (applyTo === 'exchanges') return [];
  const priority = typeof policy['priority'] === 'number' ? policy['priority'] : 0;
  const matcher = policyPatterns.compile(textOf(policy, 'pattern'));
  const matches = (queue: string): boolean => matcher.matches(queue);
  return [{ vhost: textOf(place, 'vhost'), priority, definition: objectOf(policy, 'definition'), matches }];
}
