import { type QueueForm, quorumForm, staysClassic } from '../../backends/topology/index.js';
import { delayedType, queueArguments } from '../../engine/broker/index.js';
import { policyPatterns } from '../../platform/index.js';
import { CommandError, exit } from '../command-error.js';

/** An object of definitions. Clients choose its names and values, so each of them is checked. */
export type Row = Readonly<Record<string, unknown>>;

/** Definitions as RabbitMQ's tools write them: lists by the kind of object, and a few strings. */
export type Definitions = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns the rows of one kind; none where there is no such list @throws CommandError when it is no list of objects */
function rowsIn(definitions: Definitions, kind: string): readonly Row[] {
  const list = definitions[kind] ?? [];
  if (Array.isArray(list) && list.every(isObject)) return list;
  throw new CommandError(`these are no definitions: '${kind}' is no list of objects`, exit.data);
}

export const textOf = (row: Row, key: string): string => {
  const value = row[key];
  return typeof value === 'string' ? value : '';
};

const objectOf = (row: Row, key: string): Row => {
  const value = row[key];
  return isObject(value) ? value : {};
};

/** A name and its virtual host in one text, for comparisons. */
export const placeOf = (row: Row, key = 'name'): string => JSON.stringify([textOf(row, 'vhost'), textOf(row, key)]);

/** As texts name it: `queue 'orders' in vhost '/'`. */
const shownPlace = (kind: string, row: Row): string =>
  `${kind} '${textOf(row, 'name')}' in vhost '${textOf(row, 'vhost')}'`;

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
class PoliciesOf {
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

export interface Conversion {
  /** True for names of queues that become quorum queues. Undefined: no type is changed. */
  readonly isQuorum?: (queue: string) => boolean;
  /** Of queues that become quorum queues and have a dead-letter exchange; default 20. */
  readonly deliveryLimit?: number;
  /** Leaves out users and their permissions: an import replaces users of the same name. */
  readonly withoutUsers?: boolean;
}

export interface Converted {
  readonly definitions: Definitions;
  /** Differences and warnings, one line each. */
  readonly notes: readonly string[];
}

/**
 * Makes definitions that RabbitMQ imports without an error: exchanges that need a plugin are left out with their bindings. RabbitMQ
 * stops in the middle of an import that it refuses.
 * @throws CommandError when these are no definitions
 */
export function forRabbitMq(definitions: Definitions, conversion: Conversion = {}): Converted {
  const notes: string[] = [];
  const policies = new PoliciesOf(definitions);
  const exchanges = rowsIn(definitions, 'exchanges');
  const delayed = exchanges.filter((row) => textOf(row, 'type') === delayedType);
  const gone = new Set(delayed.map((row) => placeOf(row)));
  const bindings = rowsIn(definitions, 'bindings').filter((row) => !touches(row, gone));
  for (const row of delayed) {
    const count = rowsIn(definitions, 'bindings').filter((each) => touches(each, new Set([placeOf(row)]))).length;
    const why = `its type ${delayedType} needs a plugin`;
    notes.push(
      `${shownPlace('exchange', row)} is left out with ${count} ${count === 1 ? 'binding' : 'bindings'}: ${why}`,
    );
  }
  const queues = rowsIn(definitions, 'queues').map((row) => queueOf(row, policies, conversion, notes));
  notes.push(...dangling(exchanges, 'exchange', 'arguments', ['alternate-exchange'], gone));
  notes.push(...dangling(queues, 'queue', 'arguments', ['x-dead-letter-exchange'], gone));
  const keys = ['alternate-exchange', 'dead-letter-exchange'];
  notes.push(...dangling(rowsIn(definitions, 'policies'), 'policy', 'definition', keys, gone));
  notes.push(...usersIn(definitions, conversion.withoutUsers === true));
  const rest = exchanges.filter((row) => !gone.has(placeOf(row)));
  const without = conversion.withoutUsers === true ? { users: [], permissions: [], topic_permissions: [] } : {};
  return { definitions: { ...definitions, ...without, exchanges: rest, queues, bindings }, notes };
}

function touches(binding: Row, exchanges: ReadonlySet<string>): boolean {
  if (exchanges.has(placeOf(binding, 'source'))) return true;
  return textOf(binding, 'destination_type') === 'exchange' && exchanges.has(placeOf(binding, 'destination'));
}

function queueOf(row: Row, policies: PoliciesOf, { isQuorum, deliveryLimit }: Conversion, notes: string[]): Row {
  const args = objectOf(row, 'arguments');
  const type = args['x-queue-type'] ?? 'classic';
  if (isQuorum?.(textOf(row, 'name')) !== true || type !== 'classic') return row;
  const byPolicy = (argument: string): unknown => policies.value(textOf(row, 'vhost'), textOf(row, 'name'), argument);
  const form: QueueForm = {
    durable: row['durable'] === true,
    exclusive: row['exclusive'] === true,
    autoDelete: row['auto_delete'] === true,
    names: Object.keys(args),
    value: (argument) => (Object.hasOwn(args, argument) ? args[argument] : byPolicy(argument)),
  };
  const why = staysClassic(form);
  if (why !== undefined) {
    notes.push(`${shownPlace('queue', row)} stays classic: ${why}`);
    return row;
  }
  const { removed, set, notes: differences } = quorumForm(form, deliveryLimit);
  const kept = Object.entries(args).filter(([name]) => !removed.includes(name));
  for (const text of differences) notes.push(`${shownPlace('queue', row)} ${text}`);
  // On quorum queues the policy's overflow holds, whatever the argument says.
  const overflow = byPolicy('x-overflow');
  if (set.has('x-dead-letter-strategy') && overflow !== undefined && overflow !== 'reject-publish')
    notes.push(
      `${shownPlace('queue', row)} dead-letters at most once: a policy sets its overflow to ${String(overflow)}`,
    );
  return { ...row, arguments: Object.fromEntries([...kept, ...set]) };
}

/** Objects that name an exchange that is left out: their messages would get lost. */
const dangling = (
  rows: readonly Row[],
  kind: string,
  part: 'arguments' | 'definition',
  names: readonly string[],
  gone: ReadonlySet<string>,
): string[] =>
  rows.flatMap((row) =>
    names.flatMap((name) => {
      const target = objectOf(row, part)[name];
      if (typeof target !== 'string' || !gone.has(JSON.stringify([textOf(row, 'vhost'), target]))) return [];
      return [`${shownPlace(kind, row)} has '${target}' as its ${name}, which is left out`];
    }),
  );

function usersIn(definitions: Definitions, areLeftOut: boolean): string[] {
  const names = rowsIn(definitions, 'users').map((row) => `'${textOf(row, 'name')}'`);
  if (names.length === 0) return [];
  if (areLeftOut && names.length === 1) return ['1 user is left out, with its permissions'];
  if (areLeftOut) return [`${names.length} users are left out, with their permissions`];
  return [
    `an import replaces users of these names, with their passwords: ${names.join(', ')} (--without-users leaves them out)`,
  ];
}
