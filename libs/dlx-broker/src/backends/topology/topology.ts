import type { RoutingType } from '../../engine/broker/index.js';
import { type Field, type FieldTable, fromField, integerOf } from '../../engine/message/index.js';

/** The exchange types that ship with the broker; others may be registered by plugins of a real RabbitMQ. */
export type ExchangeType = RoutingType | (string & {});

export interface ExchangeDeclaration {
  readonly name: string;
  readonly type: ExchangeType;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly internal: boolean;
  readonly arguments: FieldTable;
  /** The place of the declaration, for error messages: `@Exchange on OrdersController.created`. */
  readonly origin?: string;
}

export interface QueueDeclaration {
  readonly name: string;
  readonly durable: boolean;
  readonly exclusive: boolean;
  readonly autoDelete: boolean;
  readonly arguments: FieldTable;
  /** The names of arguments that may have other values in an existing queue. The existing queue is not changed. */
  readonly mayDiffer?: readonly string[];
  readonly origin?: string;
}

export interface BindingDeclaration {
  readonly source: string;
  readonly destination: string;
  readonly destinationType: 'queue' | 'exchange';
  readonly routingKey: string;
  readonly arguments: FieldTable;
  readonly origin?: string;
}

/** The declarations of decorators, options and retry policies, which a backend declares: plain data, in order. */
export interface Topology {
  readonly exchanges: readonly ExchangeDeclaration[];
  readonly queues: readonly QueueDeclaration[];
  readonly bindings: readonly BindingDeclaration[];
}

/** One line for people: `x-message-ttl=30000`. */
export function showField(field: Field | undefined): string {
  if (field === undefined) return 'absent';
  if (field.type === 'S') return field.value;
  return (
    JSON.stringify(fromField(field), (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)) ??
    'void'
  );
}

/** Equal for a broker: integers compare by value whatever their width. */
export function sameField(one: Field | undefined, other: Field | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return kindOf(one) === kindOf(other) && showField(one) === showField(other);
}

export function sameTable(one: FieldTable, other: FieldTable): boolean {
  if (one.size !== other.size) return false;
  for (const [name, field] of one) if (!other.has(name) || !sameField(field, other.get(name))) return false;
  return true;
}

const kindOf = (field: Field): string => (integerOf(field) === undefined ? field.type : 'integer');

/** A topology as text: one line for each exchange, queue and binding, with its origin. */
export function describeTopology(topology: Topology): string {
  return [
    ...section(
      'exchanges',
      topology.exchanges,
      ({ name, type, durable, autoDelete, internal, arguments: args, origin }) => [
        name,
        words(
          type,
          flag(durable, 'durable'),
          flag(autoDelete, 'auto-delete'),
          flag(internal, 'internal'),
          ...shown(args),
        ),
        origin,
      ],
    ),
    ...section('queues', topology.queues, ({ name, durable, exclusive, autoDelete, arguments: args, origin }) => [
      name,
      words(flag(durable, 'durable'), flag(exclusive, 'exclusive'), flag(autoDelete, 'auto-delete'), ...shown(args)),
      origin,
    ]),
    ...section(
      'bindings',
      topology.bindings,
      ({ source, routingKey, destination, destinationType, arguments: args, origin }) => [
        `${source || '(default)'} --${routingKey}--> ${destination}`,
        words(flag(destinationType === 'exchange', 'to an exchange'), ...shown(args)),
        origin,
      ],
    ),
  ].join('\n');
}

function section<T>(
  title: string,
  items: readonly T[],
  columns: (item: T) => readonly [string, string, string?],
): string[] {
  const rows = items.map(columns);
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = ([name, about, origin]: readonly [string, string, string?]): string =>
    `  ${name.padEnd(widths[0]!)}  ${about.padEnd(widths[1]!)}${origin === undefined ? '' : `  (${origin})`}`.trimEnd();
  return [`${title}: ${items.length}`, ...rows.map(line)];
}

const flag = (is: boolean, word: string): string | undefined => (is ? word : undefined);
const words = (...all: readonly (string | undefined)[]): string => all.filter((word) => word !== undefined).join(', ');
const shown = (table: FieldTable): string[] => [...table].map(([name, field]) => `${name}=${showField(field)}`);

/**
 * The queue type of a wait queue. `classic` is durable, and enough for one broker. `quorum` is for a cluster: it is replicated, and
 * keeps a message until the work queue has taken it (rule M1). A quorum wait queue has no lease, because a lease would delete messages
 * whose work queue is full or missing. As quorum wait queues are never deleted, only a fixed set of delays and the delays of policies
 * have one.
 */
export type WaitQueueType = 'classic' | 'quorum';

/**
 * The name of the wait queue for a delay, and of the fanout exchange in front of it. It has everything that a queue cannot
 * change: the delay, the type unless it is `classic`, and the exchange to which it dead-letters unless it is the default exchange.
 */
export function waitQueueName(delay: number, type: WaitQueueType = 'classic', exchange = ''): string {
  const name = type === 'classic' ? `wait.${delay}` : `wait.keep.${delay}`;
  return exchange === '' ? name : `${exchange}.${name}`;
}

/** True for names that wait queues of the default exchange have. */
export const isWaitQueueName = (name: string): boolean => /^wait\.(?:keep\.|quorum\.)?\d+$/.test(name);
