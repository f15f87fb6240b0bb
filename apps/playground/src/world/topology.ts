import { type Broker, policyKeyNames } from '../../../../libs/dlx-broker/src/engine/broker/index.js';
import { fromFieldTable, isShortstr, toFieldTable } from '../../../../libs/dlx-broker/src/engine/message/index.js';

/** Arguments and definitions of policies: what JSON can say. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = Readonly<Record<string, Json>>;

export interface ExchangeDefinition {
  readonly name: string;
  readonly type: string;
  /** Default true, as for queues. */
  readonly durable?: boolean;
  readonly auto_delete?: boolean;
  readonly internal?: boolean;
  readonly arguments?: JsonObject;
}

export interface QueueDefinition {
  readonly name: string;
  readonly durable?: boolean;
  readonly auto_delete?: boolean;
  readonly arguments?: JsonObject;
}

export interface BindingDefinition {
  readonly source: string;
  readonly destination: string;
  /** Default `queue`. */
  readonly destination_type?: 'queue' | 'exchange';
  /** Default empty. */
  readonly routing_key?: string;
  readonly arguments?: JsonObject;
}

export interface PolicyDefinition {
  readonly name: string;
  readonly pattern: string;
  readonly definition: JsonObject;
  /** Default `all`. */
  readonly 'apply-to'?: string;
  /** Default 0. */
  readonly priority?: number;
}

/** One virtual host in the form of RabbitMQ's definitions. */
export interface Topology {
  readonly exchanges?: readonly ExchangeDefinition[];
  readonly queues?: readonly QueueDefinition[];
  readonly bindings?: readonly BindingDefinition[];
  readonly policies?: readonly PolicyDefinition[];
}

/** A topology or a command that is not understood; the message names the place. */
export class Misread extends Error {
  override readonly name = 'Misread';
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isName: Check = (value) => typeof value === 'string' && isShortstr(value);
const isFlag: Check = (value) => typeof value === 'boolean';
const isWhole: Check = (value) => Number.isSafeInteger(value);
const isTable: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isNames: Check = (value) => Array.isArray(value) && value.every(isName);

/** What a field may be, with the words for an error. */
export const kinds = {
  name: [isName, 'a text of at most 255 bytes'],
  text: [isText, 'a text'],
  flag: [isFlag, 'true or false'],
  number: [isWhole, 'a whole number'],
  amount: [(value) => isWhole(value) && (value as number) >= 0, 'a whole number from 0'],
  table: [isTable, 'an object'],
  names: [isNames, 'a list of texts'],
} as const satisfies Record<string, readonly [Check, string]>;

/** The fields of an object; those with `?` may be absent. */
export type Fields = Readonly<Record<string, keyof typeof kinds | `${keyof typeof kinds}?`>>;

/** @throws Misread unless the value is an object with these fields and no others */
export function checkFields(value: unknown, fields: Fields, where: string): asserts value is Record<string, unknown> {
  if (!isTable(value)) throw new Misread(`${where} is not an object`);
  const given = value as Record<string, unknown>;
  for (const name of Object.keys(given))
    if (!Object.hasOwn(fields, name))
      throw new Misread(`${where} has '${name}', which is none of ${Object.keys(fields).join(', ')}`);
  for (const [name, kind] of Object.entries(fields)) {
    if (given[name] === undefined && kind.endsWith('?')) continue;
    const [check, words] = kinds[kind.replace('?', '') as keyof typeof kinds];
    if (!check(given[name])) throw new Misread(`${where}: '${name}' is not ${words}`);
  }
}

export const exchangeFields: Fields = {
  name: 'name',
  type: 'name',
  durable: 'flag?',
  auto_delete: 'flag?',
  internal: 'flag?',
  arguments: 'table?',
  vhost: 'text?',
};
export const queueFields: Fields = {
  name: 'name',
  durable: 'flag?',
  auto_delete: 'flag?',
  arguments: 'table?',
  vhost: 'text?',
  type: 'text?',
};
export const bindingFields: Fields = {
  source: 'name',
  destination: 'name',
  destination_type: 'name?',
  routing_key: 'name?',
  arguments: 'table?',
  vhost: 'text?',
};
export const policyFields: Fields = {
  name: 'name',
  pattern: 'text',
  definition: 'table',
  'apply-to': 'name?',
  priority: 'number?',
  vhost: 'text?',
};

/** The parts of definitions that are read, and how many of each. */
const parts = {
  exchanges: [exchangeFields, 100],
  queues: [queueFields, 100],
  bindings: [bindingFields, 1_000],
  policies: [policyFields, 100],
} as const;

/** Other parts of an export of RabbitMQ. */
const ignored = new Set(
  (
    'rabbit_version rabbitmq_version product_name product_version rabbitmq_definition_format original_cluster_name explanation ' +
    'description default_queue_type metadata limits users vhosts permissions topic_permissions parameters global_parameters'
  ).split(' '),
);

/** Reads definitions, for example an export of RabbitMQ's management. @throws Misread */
export function readTopology(value: unknown): Topology {
  if (!isTable(value)) throw new Misread('the topology is not an object with exchanges, queues, bindings and policies');
  const given = value as Record<string, unknown>;
  for (const [name, list] of Object.entries(given)) {
    if (ignored.has(name)) continue;
    if (!Object.hasOwn(parts, name))
      throw new Misread(`the topology has '${name}', which is none of ${Object.keys(parts).join(', ')}`);
    const [fields, most] = parts[name as keyof typeof parts];
    if (!Array.isArray(list)) throw new Misread(`${name} is not a list`);
    if (list.length > most) throw new Misread(`${name} has ${list.length} entries, and ${most} are the most`);
    list.forEach((each, index) => checkFields(each, fields, `${name}[${index}]`));
  }
  return Object.fromEntries(Object.entries(given).filter(([name]) => !ignored.has(name))) as Topology;
}

/** Arguments as the broker takes them. @throws TypeError that names a value that cannot be sent */
export const tableOf = (plain: JsonObject = {}) => toFieldTable(plain);

const withArguments = (table: Parameters<typeof fromFieldTable>[0]): { readonly arguments?: JsonObject } =>
  table === undefined || table.size === 0 ? {} : { arguments: { ...(fromFieldTable(table) as JsonObject) } };

/** What is declared in a broker now, without what each virtual host has: RabbitMQ can import it. */
export function topologyOf(broker: Broker): Required<Topology> {
  const { exchanges, queues, policies } = broker.virtualHost('/');
  const own = [...exchanges.values()].filter(({ name }) => name !== '' && !name.startsWith('amq.'));
  return {
    exchanges: own.map(({ declared: { name, type, durable, autoDelete, internal, arguments: table } }) => ({
      name,
      type,
      durable,
      auto_delete: autoDelete,
      internal,
      ...withArguments(table),
    })),
    queues: [...queues.values()].map(({ declared: { name, durable, autoDelete, arguments: table } }) => ({
      name,
      durable,
      auto_delete: autoDelete,
      ...withArguments(table),
    })),
    bindings: [...exchanges.values()].flatMap((exchange) =>
      exchange.bindings().map(({ destination, bindingKey, arguments: table }) => ({
        source: exchange.name,
        destination: destination.name,
        destination_type: queues.get(destination.name) === destination ? ('queue' as const) : ('exchange' as const),
        routing_key: bindingKey,
        ...withArguments(table),
      })),
    ),
    policies: policies.user.list().map(({ name, pattern, definition, applyTo, priority }) => ({
      name,
      pattern,
      definition: Object.fromEntries(definition) as JsonObject,
      'apply-to': applyTo,
      priority,
    })),
  };
}

/** The keys that a policy can set, for a form. */
export const policyKeys = policyKeyNames;
