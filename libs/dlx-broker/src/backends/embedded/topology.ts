import {
  type AmqpError,
  type Channel,
  exchangeTypeDescriptions,
  exchangeTypes,
  isExchangeType,
  type VirtualHostCore,
} from '../../engine/broker/index.js';
import type { Field, FieldTable } from '../../engine/message/index.js';
import { nearestWord } from '../../platform/options/index.js';
import type { BindingDeclaration, ExchangeDeclaration, QueueDeclaration, Topology } from '../topology/index.js';
import { differing, type TopologyDifference, TopologyError } from '../errors.js';

/**
 * Declares a topology, after comparing all of it with what exists.
 * @returns the queues that exist with other arguments where the declaration allows that (`mayDiffer`)
 * @throws TopologyError
 */
export function declareEmbedded(
  topology: Topology,
  vhost: VirtualHostCore,
  openChannel: () => Channel,
): ReadonlySet<string> {
  const different = new Set<string>();
  const differences = [
    ...topology.exchanges.flatMap((exchange) => exchangeDifferences(exchange, vhost)),
    ...topology.queues.flatMap((queue) => queueDifferences(queue, vhost)),
  ];
  if (differences.length > 0) throw differing(differences);
  for (const exchange of topology.exchanges) {
    const declare = (channel: Channel): void => channel.declareExchange(exchange.name, exchange);
    attempt(`exchange '${exchange.name}'`, exchange.origin, openChannel, declare, typesBeside(exchange));
  }
  for (const queue of topology.queues) {
    const args = tolerant(queue, vhost);
    if (args !== queue.arguments) different.add(queue.name);
    attempt(`queue '${queue.name}'`, queue.origin, openChannel, (channel) => {
      channel.declareQueue(queue.name, { ...queue, arguments: args });
    });
  }
  for (const binding of topology.bindings) declareBinding(binding, openChannel);
  return different;
}

function declareBinding(binding: BindingDeclaration, openChannel: () => Channel): void {
  const { source, destination, destinationType, routingKey } = binding;
  const what = `binding of ${destinationType} '${destination}' to exchange '${source}'`;
  attempt(what, binding.origin, openChannel, (channel) => {
    if (destinationType === 'queue') channel.bindQueue(destination, source, routingKey, binding.arguments);
    else channel.bindExchange(destination, source, routingKey, binding.arguments);
  });
}

/**
 * Runs a command on a channel of its own, because an error closes the channel.
 * @param hint what the broker's error does not say
 */
function attempt(
  what: string,
  origin: string | undefined,
  openChannel: () => Channel,
  declare: (channel: Channel) => void,
  hint = '',
): void {
  const channel = openChannel();
  try {
    declare(channel);
  } catch (error) {
    const by = origin === undefined ? '' : ` (${origin})`;
    throw new TopologyError(`cannot declare ${what}${by}: ${(error as AmqpError).message}${hint}`, [], {
      cause: error,
    });
  } finally {
    channel.close();
  }
}

/**
 * For an exchange of a type that does not exist, which types do: the broker's error names the wrong one only (rule P3).
 */
function typesBeside({ type, arguments: args }: ExchangeDeclaration): string {
  if (!isExchangeType(type)) return oneOf(type, [...exchangeTypeDescriptions.keys()]);
  const delayed = exchangeTypes.has(type) ? undefined : args.get('x-delayed-type');
  return delayed?.type === 'S' && !exchangeTypes.has(delayed.value)
    ? oneOf(delayed.value, [...exchangeTypes.keys()])
    : '';
}

function oneOf(given: string, words: readonly string[]): string {
  const meant = nearestWord(given, words);
  return `; ${meant === undefined ? '' : `did you mean '${meant}'? `}there are ${words.join(', ')}`;
}

function exchangeDifferences(asked: ExchangeDeclaration, vhost: VirtualHostCore): TopologyDifference[] {
  const existing = vhost.exchanges.get(asked.name)?.declared;
  if (existing === undefined) return [];
  const about = { kind: 'exchange', name: asked.name, origin: asked.origin } as const;
  return compare(about, [
    ['type', existing.type, asked.type],
    ['durable', existing.durable, asked.durable],
    ['auto-delete', existing.autoDelete, asked.autoDelete],
    ['internal', existing.internal, asked.internal],
    ...argumentPairs(existing.arguments, asked.arguments, ['alternate-exchange']),
  ]);
}

function queueDifferences(asked: QueueDeclaration, vhost: VirtualHostCore): TopologyDifference[] {
  const existing = vhost.queues.get(asked.name)?.declared;
  if (existing === undefined) return [];
  const about = { kind: 'queue', name: asked.name, origin: asked.origin } as const;
  const names = new Set([...existing.arguments.keys(), ...asked.arguments.keys()]);
  for (const name of asked.mayDiffer ?? []) names.delete(name);
  // Since 4 the broker names the type of a queue that names none (rule F10).
  const unnamed = vhost.profile.defaultQueueTypes ? existing.type : 'classic';
  if ((asked.arguments.get('x-queue-type')?.value ?? unnamed) === existing.type) names.delete('x-queue-type');
  return compare(about, [
    ['durable', existing.durable, asked.durable],
    ['exclusive', existing.owner !== undefined, asked.exclusive],
    ['auto-delete', existing.autoDelete, asked.autoDelete],
    ...argumentPairs(existing.arguments, asked.arguments, names),
  ]);
}

/** The declared arguments, with the values of the existing queue for those that may differ. */
function tolerant({ name, arguments: asked, mayDiffer = [] }: QueueDeclaration, vhost: VirtualHostCore): FieldTable {
  const existing = vhost.queues.get(name)?.declared.arguments;
  const differing = mayDiffer.filter((argument) => shown(existing?.get(argument)) !== shown(asked.get(argument)));
  if (existing === undefined || differing.length === 0) return asked;
  const args = new Map(asked);
  for (const argument of differing) {
    const value = existing.get(argument);
    if (value === undefined) args.delete(argument);
    else args.set(argument, value);
  }
  return args;
}

type Pair = readonly [property: string, existing: unknown, asked: unknown];

function argumentPairs(existing: FieldTable, asked: FieldTable, names: Iterable<string>): Pair[] {
  return [...names].map((name): Pair => [name, shown(existing.get(name)), shown(asked.get(name))]);
}

function compare(
  about: Pick<TopologyDifference, 'kind' | 'name' | 'origin'>,
  pairs: readonly Pair[],
): TopologyDifference[] {
  return pairs
    .filter(([, existing, asked]) => existing !== asked)
    .map(([property, existing, asked]) => ({ ...about, property, existing: String(existing), asked: String(asked) }));
}

/** Integers of all widths look alike, as they are to a redeclare (rule F11). */
function shown(field: Field | undefined): string {
  if (field === undefined) return 'none';
  return field.type === 'S' ? `'${field.value}'` : String(field.value);
}
