import {
  Broker,
  type Clock,
  type Exchange,
  exchangeTypeDescriptions,
  type Patterns,
  PolicyError,
  type Queue,
} from '../../broker/index.js';
import { emptyTable, type FieldTable } from '../../message/index.js';
import { tableOfJson } from '../api/field-json.js';
import { keyOf } from './caller.js';
import { type Declarable, declareIn } from './declare-in.js';
import { type Lists, type RawRow, tooDeep } from './lists.js';

/** What is declared on a server. */
export type Declared = Omit<Lists, 'queues'> & { readonly queues: readonly RawRow[] };

/**
 * A broker in memory with the topology and the policies of a server, and without messages: the engine computes the settings of
 * the queues, and where dead letters go. Its clock stands still, so nothing expires in it.
 */
export interface Mirror {
  /** Equal for equal topologies. */
  readonly key: string;
  readonly broker: Broker;
  /** The types of exchanges that the engine does not know. */
  readonly foreignTypes: ReadonlyMap<Exchange, { readonly type: string }>;
  /** Parts that the engine does not know, such as keys of policies of a later RabbitMQ. */
  readonly unknown: readonly string[];
}

const stillClock: Clock = { now: () => 0, wakeAt: () => undefined };

/** The objects that are declared in one step. */
const inOneGo = 100;

/** The parts of a row that make the topology, without the numbers that change all the time. */
const topologyColumns = ['vhost', 'name', 'type', 'durable', 'auto_delete', 'exclusive', 'arguments'] as const;

/** A key that two lists of the same topology have in common. */
export function topologyKey({
  version,
  vhosts,
  exchanges,
  queues,
  bindings,
  policies,
  operatorPolicies,
}: Declared): string {
  const brief = queues.map((row) => topologyColumns.map((column) => row[column]));
  return keyOf(version, vhosts, exchanges, brief, bindings, policies, operatorPolicies);
}

/** Makes the mirror of a topology. Yields wherever it may pause. @param key see {@link topologyKey} */
export function* mirrorOf(lists: Declared, key: string, patterns: Patterns): Generator<void, Mirror, void> {
  const names = { token: () => 'mirror' };
  const isLater = Number.parseInt(lists.version, 10) >= 4;
  const broker = new Broker({ clock: stillClock, names, patterns, rabbitmq: isLater ? '4' : '3.10' });
  const unknown: string[] = [];
  for (const row of lists.vhosts) broker.addVirtualHost(textAt(row, 'name'));
  for (const [kind, rows] of [
    ['setPolicy', lists.policies],
    ['setOperatorPolicy', lists.operatorPolicies],
  ] as const) {
    for (const row of rows) {
      setPolicy(broker, kind, row, unknown);
      yield;
    }
  }
  for (const [rows, declare] of [
    [lists.exchanges, exchangeIn],
    [lists.queues, queueIn],
    [lists.bindings, bindingIn],
  ] as const) {
    for (let at = 0; at < rows.length; at += inOneGo) {
      for (const row of rows.slice(at, at + inOneGo)) {
        for (const added of declare(row, broker, unknown)) declareIn(broker, added, unknown);
      }
      yield;
    }
  }
  return { key, broker, foreignTypes: foreignTypesIn(broker, lists.exchanges), unknown };
}

function foreignTypesIn(broker: Broker, rows: readonly RawRow[]): Mirror['foreignTypes'] {
  const found = new Map<Exchange, { readonly type: string }>();
  for (const row of rows) {
    const exchange = broker.virtualHosts.get(textAt(row, 'vhost'))?.exchanges.get(textAt(row, 'name'));
    const type = textAt(row, 'type');
    if (exchange !== undefined && exchange.declared.type !== type) found.set(exchange, { type });
  }
  return found;
}

/** Sets the policy without the keys that the engine does not know. */
function setPolicy(broker: Broker, set: 'setPolicy' | 'setOperatorPolicy', row: RawRow, unknown: string[]): void {
  const vhost = broker.virtualHosts.get(textAt(row, 'vhost'));
  const name = textAt(row, 'name');
  const { pattern, definition, priority } = row;
  const request = { pattern, priority, applyTo: row['apply-to'] };
  const attempt = (keys: unknown): boolean => {
    try {
      vhost?.[set](name, { ...request, definition: keys });
      return true;
    } catch (error) {
      if (error instanceof PolicyError) return false;
      throw error;
    }
  };
  if (attempt(definition)) return;
  const known = new Map<string, unknown>();
  for (const [key, value] of Object.entries((definition ?? {}) as object)) {
    if (attempt(new Map([...known, [key, value]]))) known.set(key, value);
    else unknown.push(`key '${key}' of policy '${name}'`);
  }
  if (known.size === 0) {
    const kind = set === 'setPolicy' ? 'deletePolicy' : 'deleteOperatorPolicy';
    vhost?.[kind](name);
    unknown.push(`policy '${name}'`);
  }
}

type Declare = (row: RawRow, broker: Broker, unknown: string[]) => readonly Declarable[];

const exchangeIn: Declare = (row, broker, unknown) => {
  const [vhost, name] = [textAt(row, 'vhost'), textAt(row, 'name')];
  const known = broker.virtualHosts.get(vhost);
  if (known === undefined || known.exchanges.has(name)) return [];
  const asked = textAt(row, 'type');
  // Of a type that the engine does not have, more than the routing key may decide where a message goes: as with headers.
  const type = exchangeTypeDescriptions.has(asked) ? asked : 'headers';
  if (type !== asked) unknown.push(`type '${asked}' of exchange '${name}'`);
  const details = {
    name,
    type,
    durable: row['durable'] === true,
    autoDelete: false, // a mirror deletes nothing by itself
    internal: row['internal'] === true,
    arguments: argumentsIn(row, unknown),
  };
  return [{ kind: 'exchange', change: 'added', vhost, name, details }];
};

const queueIn: Declare = (row, broker, unknown) => {
  const [vhost, name] = [textAt(row, 'vhost'), textAt(row, 'name')];
  const known = broker.virtualHosts.get(vhost);
  if (known === undefined || known.queues.has(name)) return [];
  const type = row['type'] === 'quorum' ? 'quorum' : 'classic';
  const details = {
    name,
    type,
    durable: row['durable'] === true,
    autoDelete: row['auto_delete'] === true,
    owner: row['exclusive'] === true ? { number: 0, client: undefined, exclusiveQueues: new Set<string>() } : undefined,
    // Of a stream, no argument acts as it does in a queue.
    arguments: row['type'] === 'stream' ? emptyTable : argumentsIn(row, unknown),
  } as const;
  return [{ kind: 'queue', change: 'added', vhost, name, details }];
};

const bindingIn: Declare = (row, _, unknown) => {
  const [vhost, source] = [textAt(row, 'vhost'), textAt(row, 'source')];
  if (source === '') return []; // the default exchange has a binding for each queue by itself
  const details = {
    to: row['destination_type'] === 'exchange' ? ('exchange' as const) : ('queue' as const),
    destination: textAt(row, 'destination'),
    bindingKey: textAt(row, 'routing_key'),
    arguments: argumentsIn(row, unknown),
  };
  return [{ kind: 'binding', change: 'added', vhost, name: source, details }];
};

/** An empty table is written as an empty list by some releases. */
function argumentsIn(row: RawRow, unknown: string[]): FieldTable {
  const { arguments: args } = row;
  if (args === tooDeep) unknown.push(argumentsOf(row));
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return emptyTable;
  try {
    return tableOfJson(args);
  } catch {
    unknown.push(argumentsOf(row));
    return emptyTable;
  }
}

const argumentsOf = (row: RawRow): string => `arguments of '${textAt(row, 'name') || textAt(row, 'source')}'`;

/** A string of a row; empty if it has none. */
export const textAt = (row: RawRow, column: string): string => {
  const value = row[column];
  return typeof value === 'string' ? value : '';
};

/** The queue of the mirror for a row. */
export const mirrored = (row: RawRow, { broker }: Mirror): Queue | undefined =>
  broker.virtualHosts.get(textAt(row, 'vhost'))?.queues.get(textAt(row, 'name'));

/** A key of a virtual host and a name in it. */
export const placeOf = (vhost: unknown, name: unknown): string => JSON.stringify([vhost, name]);
