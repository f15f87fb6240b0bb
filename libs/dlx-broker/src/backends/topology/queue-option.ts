import type { Overflow } from '../../engine/broker/index.js';
import type { Field, FieldTable } from '../../engine/message/index.js';
import { flag, optionsOf, refused, refuseUnknown } from '../../platform/options/index.js';
import { checkedArguments, checkedName } from './declared-parts.js';
import {
  putArgument,
  queueArguments,
  queueOptions,
  withSafeStrategy,
  type WrittenArgument,
} from './queue-arguments.js';
import type { QueueDeclaration } from './topology.js';

/** The dead-letter exchange of a queue, the routing key of its dead letters, and the strategy. */
export interface DeadLetterOptions {
  /** `''` is the default exchange: then `routingKey` names a queue. */
  readonly exchange: string;
  /** Default: a dead letter keeps its own key. */
  readonly routingKey?: string;
  /** `at-least-once` needs a quorum queue; overflow `reject-publish`, which it needs as well, is added. */
  readonly strategy?: 'at-most-once' | 'at-least-once';
}

/** How a queue without a handler is declared: the settings of the decorators, and those of AMQP's queue.declare. */
export interface QueueProperties {
  /** Survives a restart of the broker. Default true. */
  readonly durable?: boolean;
  /** Default false. */
  readonly exclusive?: boolean;
  /** Default false. */
  readonly autoDelete?: boolean;
  /** How long a message may wait: milliseconds, or a string such as `'30s'`. */
  readonly ttl?: number | string;
  /** After how long without a consumer the queue is deleted, with everything in it: milliseconds or `'1h'`. */
  readonly expires?: number | string;
  /** How many waiting messages the queue holds. */
  readonly maxLength?: number;
  /** How many bytes of waiting message bodies the queue holds. */
  readonly maxLengthBytes?: number;
  /** What a full queue does with a further message. Default `drop-head`. */
  readonly overflow?: Overflow;
  /** The dead-letter exchange; or the exchange and the routing key; or an object with the strategy as well. */
  readonly deadLetter?: string | readonly [exchange: string, routingKey: string] | DeadLetterOptions;
  /** A quorum queue, and how often a message may come back to it before it is dead-lettered. Default false. */
  readonly quorum?: boolean | { readonly deliveryLimit?: number };
  /** The highest priority of the queue, at most 255. Messages of a higher one count as this one. */
  readonly maxPriority?: number;
  /** Only one consumer gets messages at a time; when it ends, another one does. */
  readonly singleActiveConsumer?: boolean;
  /** Further arguments by their AMQP names: a plain object, or a table of fields. */
  readonly arguments?: Readonly<Record<string, unknown>> | FieldTable;
}

/** A queue of the option `topology`: its name, and how it is declared. */
export interface QueueOption extends QueueProperties {
  readonly name: string;
}

const flags = ['durable', 'exclusive', 'autoDelete'] as const;

/** Every setting, for errors. `mayDiffer` and `origin` belong to full declarations, which may be given as well. */
const properties: readonly string[] = [...flags, ...new Set(queueOptions.map(([option]) => option)), 'arguments'];
const known: readonly string[] = ['name', ...properties];
const ofDeclarations: readonly string[] = ['mayDiffer', 'origin'];

/**
 * A queue without a handler, with the settings of the decorators: `queue('x', { ttl: '30s', deadLetter: ['dlx', 'key'] })`.
 * @returns the queue for option `topology` or `forFeature`; it is durable by default
 * @throws DlxConfigurationError naming the queue, the setting and the accepted values
 */
export function queue(name: string, given: QueueProperties = {}): QueueOption {
  const origin = `queue('${String(name)}')`;
  const option = { ...optionsOf(given, origin, "write settings such as { ttl: '30s' }"), name };
  readQueue(option, origin);
  return option;
}

/**
 * @param given a name, a name with settings, or a full declaration
 * @param where it is written, for errors and for `describeTopology`
 * @throws DlxConfigurationError
 */
export function readQueue(given: unknown, where: string): QueueDeclaration {
  if (typeof given === 'string') return readQueue({ name: given }, where);
  const option = optionsOf(given, where, "write a name, or { name: 'orders', ttl: '30s' }");
  const said = typeof option['name'] === 'string' ? `queue '${option['name']}'` : 'a queue';
  const origin = where.startsWith('queue(') ? where : `${said} of ${where}`;
  refuseUnknown(option, 'origin' in option || 'mayDiffer' in option ? [...known, ...ofDeclarations] : known, origin);
  const name = checkedName(option['name'], `name of a queue of ${where}`);
  const flagOf = (property: (typeof flags)[number]): boolean =>
    option[property] === undefined
      ? property === 'durable'
      : (flag.read(option[property], `${property} of ${origin}`).value as boolean);
  const mayDiffer = option['mayDiffer'] as readonly string[] | undefined;
  return {
    name,
    durable: flagOf('durable'),
    exclusive: flagOf('exclusive'),
    autoDelete: flagOf('autoDelete'),
    arguments: readArguments(option, origin),
    ...(mayDiffer !== undefined && { mayDiffer }),
    origin: typeof option['origin'] === 'string' ? option['origin'] : origin,
  };
}

function readArguments(option: Readonly<Record<string, unknown>>, origin: string): FieldTable {
  const args = new Map<string, Field>();
  const put = (argument: WrittenArgument, value: unknown, where: string): void => {
    if (value === undefined) return;
    putArgument(args, argument, queueArguments[argument].read(value, where), where, `another setting of ${origin}`);
  };
  const where = `deadLetter of ${origin}`;
  const quorum = quorumOf(option['quorum'], `quorum of ${origin}`);
  const given = { ...option, deadLetter: deadLetterOf(option['deadLetter'], where), quorum };
  if (quorum !== undefined) put('x-queue-type', 'quorum', `quorum of ${origin}`);
  for (const [name, argument, member] of queueOptions) {
    const value = given[name as keyof typeof given] as unknown;
    if (member === undefined) put(argument, value, `${name} of ${origin}`);
    else put(argument, (value as Record<string, unknown> | undefined)?.[member], `${member} of ${name} of ${origin}`);
  }
  for (const [name, field] of checkedArguments(option['arguments'], `arguments of ${origin}`)) {
    putArgument(args, name, field, `arguments of ${origin}`, 'a setting beside it');
  }
  return withSafeStrategy(args, `strategy of ${where}`, 'quorum: true beside it');
}

function deadLetterOf(given: unknown, origin: string): Partial<DeadLetterOptions> {
  if (given === undefined) return {};
  if (typeof given === 'string') return { exchange: given };
  const remedy = "write 'exchange', ['exchange', 'key'] or { exchange, routingKey, strategy }";
  if (Array.isArray(given)) {
    if (given.length !== 2) throw refused(given, origin, `is not an exchange and a routing key; ${remedy}`);
    const [exchange, routingKey] = given as unknown as readonly [string, string];
    return { exchange, routingKey };
  }
  const option = optionsOf(given, origin, remedy, ['exchange', 'routingKey', 'strategy']);
  if (option['exchange'] === undefined) throw refused(given, origin, `names no exchange; ${remedy}`);
  return option as Partial<DeadLetterOptions>;
}

function quorumOf(given: unknown, origin: string): { readonly deliveryLimit?: unknown } | undefined {
  if (given === undefined || given === false) return undefined;
  if (given === true) return {};
  const option = optionsOf(given, origin, 'write true, or { deliveryLimit: 5 }', ['deliveryLimit']);
  return option;
}
