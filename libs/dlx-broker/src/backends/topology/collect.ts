import { type Field, isPredeclared } from '../../engine/message/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import {
  type BindingDeclaration,
  type ExchangeDeclaration,
  type QueueDeclaration,
  sameField,
  sameTable,
  showField,
  type Topology,
} from './topology.js';

/** An exchange that is only mentioned: as dead-letter exchange, or as the source of a binding. */
export interface MentionedExchange {
  readonly name: string;
  readonly origin: string;
}

/** The parts of a topology: declarations, mentions, and exchanges that other programs declare (`declare: false`). */
export interface Contributions {
  readonly parts: readonly Partial<Topology>[];
  readonly mentioned?: readonly MentionedExchange[];
  readonly foreign?: ReadonlySet<string>;
}

/**
 * Combines declarations, in order. Equal declarations of one name are allowed, and the arguments of a queue are united. An exchange
 * that is only mentioned becomes a durable topic exchange, to which plain keys and patterns can be bound; without it the messages
 * would be dropped (rule A7).
 * @throws DlxConfigurationError naming both origins when two declarations contradict each other
 */
export function collectTopology({ parts, mentioned = [], foreign = new Set() }: Contributions): Topology {
  const exchanges = new Map<string, ExchangeDeclaration>();
  const queues = new Map<string, QueueDeclaration>();
  const bindings = new Map<string, BindingDeclaration>();
  for (const part of parts) {
    for (const exchange of part.exchanges ?? []) addExchange(exchanges, exchange);
    for (const queue of part.queues ?? []) addQueue(queues, queue);
    for (const binding of part.bindings ?? []) addBinding(bindings, binding);
  }
  for (const { name, origin } of mentioned) {
    if (!exchanges.has(name) && !foreign.has(name) && !isPredeclared(name))
      exchanges.set(name, impliedExchange(name, origin));
  }
  return { exchanges: [...exchanges.values()], queues: [...queues.values()], bindings: [...bindings.values()] };
}

const impliedExchange = (name: string, origin: string): ExchangeDeclaration => ({
  name,
  type: 'topic',
  durable: true,
  autoDelete: false,
  internal: false,
  arguments: new Map(),
  origin: `${origin} (mentioned)`,
});

function addExchange(known: Map<string, ExchangeDeclaration>, added: ExchangeDeclaration): void {
  const present = known.get(added.name);
  if (present === undefined) {
    known.set(added.name, added);
    return;
  }
  for (const property of ['type', 'durable', 'autoDelete', 'internal'] as const) {
    if (present[property] !== added[property]) {
      throw contradiction(`exchange '${added.name}'`, property, [present[property], present], [added[property], added]);
    }
  }
  if (!sameTable(present.arguments, added.arguments)) {
    const [one, other] = [[...present.arguments.keys()], [...added.arguments.keys()]];
    throw contradiction(`exchange '${added.name}'`, 'arguments', [one, present], [other, added]);
  }
}

function addQueue(known: Map<string, QueueDeclaration>, added: QueueDeclaration): void {
  const present = known.get(added.name);
  if (present === undefined) {
    known.set(added.name, added);
    return;
  }
  for (const property of ['durable', 'exclusive', 'autoDelete'] as const) {
    if (present[property] !== added[property]) {
      throw contradiction(`queue '${added.name}'`, property, [present[property], present], [added[property], added]);
    }
  }
  const mayDiffer = [...(present.mayDiffer ?? []), ...(added.mayDiffer ?? [])];
  known.set(added.name, { ...present, arguments: united(present, added), ...(mayDiffer.length > 0 && { mayDiffer }) });
}

function united(present: QueueDeclaration, added: QueueDeclaration): ReadonlyMap<string, Field> {
  const all = new Map(present.arguments);
  for (const [name, field] of added.arguments) {
    const there = all.get(name);
    if (there !== undefined && !sameField(there, field)) {
      throw contradiction(`queue '${added.name}'`, name, [showField(there), present], [showField(field), added]);
    }
    all.set(name, field);
  }
  return all;
}

function addBinding(known: Map<string, BindingDeclaration>, added: BindingDeclaration): void {
  const { source, destinationType, destination, routingKey } = added;
  const shown = [...added.arguments].map(([name, field]) => [name, showField(field)]);
  known.set(JSON.stringify([source, destinationType, destination, routingKey, shown]), added);
}

type Claim = readonly [value: unknown, by: { readonly origin?: string }];

function contradiction(what: string, property: string, one: Claim, other: Claim): DlxConfigurationError {
  const claim = ([value, by]: Claim): string =>
    `${by.origin ?? 'a declaration without an origin'} says ${String(value)}`;
  return new DlxConfigurationError(`${what}: two declarations differ in ${property}: ${claim(one)}, ${claim(other)}`);
}
