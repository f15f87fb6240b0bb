import type { Broker } from '../../../../libs/dlx-broker/src/engine/broker/index.js';
import { fromFieldTable, toFieldTable } from '../../../../libs/dlx-broker/src/engine/message/index.js';
import { checkFields, isObject, Misread } from './fields.js';

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

const declared = 'vhost?:text arguments?:table';
export const exchangeFields = `name:name type:name durable?:flag auto_delete?:flag internal?:flag ${declared}`;
export const queueFields = `name:name type?:text durable?:flag auto_delete?:flag ${declared}`;
export const bindingFields = `source:name destination:name destination_type?:name routing_key?:name ${declared}`;
export const policyFields = 'name:name pattern:text definition:table apply-to?:name priority?:number vhost?:text';

/** The parts of definitions that are read, and how many of each. */
const parts = {
  exchanges: [exchangeFields, 100],
  queues: [queueFields, 100],
  bindings: [bindingFields, 1_000],
  policies: [policyFields, 100],
} as const;

/** Other parts of an export of RabbitMQ. */
const ignored =
  /^(rabbit|product|original|default_queue)_|^(explanation|description|metadata|limits|users|vhosts)$|parameters$|permissions$/;

/** Reads definitions, for example an export of RabbitMQ's management. @throws Misread */
export function readTopology(value: unknown): Topology {
  if (!isObject(value))
    throw new Misread('the topology is not an object with exchanges, queues, bindings and policies');
  const read = Object.entries(value).filter(([name]) => !ignored.test(name));
  for (const [name, list] of read) {
    if (!Object.hasOwn(parts, name))
      throw new Misread(`the topology has '${name}', which is none of ${Object.keys(parts).join(', ')}`);
    const [fields, most] = parts[name as keyof typeof parts];
    if (!Array.isArray(list)) throw new Misread(`${name} is not a list`);
    if (list.length > most) throw new Misread(`${name} has ${list.length} entries, and ${most} are the most`);
    list.forEach((each, index) => checkFields(each, fields, `${name}[${index}]`));
  }
  return Object.fromEntries(read);
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
