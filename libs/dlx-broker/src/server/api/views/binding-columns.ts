import { createHash } from 'node:crypto';
import {
  bindingIdentity,
  Exchange,
  type Exchange as Source,
  type Queue,
  type VirtualHost,
} from '../../../engine/broker/index.js';
import { emptyTable, type FieldTable } from '../../../engine/message/index.js';
import type { Columns } from '../lists.js';
import { tableToJson } from '../field-json.js';

/** A binding with the names of its source, its destination and its virtual host. */
export interface PlacedBinding {
  readonly vhost: string;
  readonly source: string;
  readonly destination: string;
  readonly kind: 'queue' | 'exchange';
  readonly bindingKey: string;
  readonly args: FieldTable;
}

export const bindingColumns: Columns<PlacedBinding> = {
  source: ({ source }) => source,
  vhost: ({ vhost }) => vhost,
  destination: ({ destination }) => destination,
  destination_type: ({ kind }) => kind,
  routing_key: ({ bindingKey }) => bindingKey,
  arguments: ({ args }) => tableToJson(args),
  properties_key: ({ bindingKey, args }) => propertiesKey(bindingKey, args),
};

export const bindingOrder: readonly string[] = [
  'vhost',
  'source',
  'type',
  'destination',
  'routing_key',
  'properties_key',
];

/**
 * The name of a binding in a path: its key and, if it has arguments, `~` and a hash of these (rule U3). The empty key is `~`.
 */
export function propertiesKey(bindingKey: string, args: FieldTable): string {
  // As in a query string, with a plus for a space; `~` is encoded too.
  const key = new URLSearchParams([['', bindingKey]]).toString().slice(1).replaceAll('*', '%2A');
  if (args.size === 0) return key === '' ? '~' : key;
  return `${key}~${createHash('sha256').update(bindingIdentity(bindingKey, args)).digest('base64url').slice(0, 6)}`;
}

/** Bindings of a list that is known when it is made. Each row is made when it is read. */
export type Bindings = Iterable<PlacedBinding>;

/** All bindings of a virtual host, by source; those of the default exchange are included (rule O7). */
export function bindingsOf(vhost: VirtualHost): readonly Bindings[] {
  return [...vhost.exchanges.values()].map((exchange) => bindingsFrom(vhost, exchange));
}

/** The bindings of which an exchange is the source. */
export function bindingsFrom(vhost: VirtualHost, source: Source): Bindings {
  if (source.name === '') return each([...vhost.queues.values()], (queue) => defaultBinding(vhost, queue));
  return each(source.bindings(), (binding) => placed(vhost, source, binding));
}

/** The bindings of a destination, read from the exchanges that are bound to it. */
export function bindingsTo(vhost: VirtualHost, destination: Queue | Exchange): readonly Bindings[] {
  const sources = [...(destination.boundTo as ReadonlySet<Source>)];
  const found = sources.map((source) => each(source.bindingsTo(destination), (one) => placed(vhost, source, one)));
  return destination instanceof Exchange ? found : [[defaultBinding(vhost, destination)], ...found];
}

/** The bindings from an exchange to a queue or another exchange. */
export function bindingsBetween(vhost: VirtualHost, source: Source, to: Queue | Exchange): Bindings {
  if (source.name === '') return to instanceof Exchange ? [] : [defaultBinding(vhost, to)];
  return each(source.bindingsTo(to), (binding) => placed(vhost, source, binding));
}

function* each<T>(items: readonly T[], place: (item: T) => PlacedBinding): Generator<PlacedBinding, void, void> {
  for (const item of items) yield place(item);
}

type Bound = ReturnType<Source['bindings']>[number];

/** A binding of any exchange but the default exchange. */
export const placed = (
  vhost: VirtualHost,
  source: Source,
  { destination, bindingKey, arguments: args }: Bound,
): PlacedBinding => ({
  vhost: vhost.name,
  source: source.name,
  destination: destination.name,
  kind: destination instanceof Exchange ? 'exchange' : 'queue',
  bindingKey,
  args,
});

const defaultBinding = (vhost: VirtualHost, { name }: Queue): PlacedBinding => ({
  vhost: vhost.name,
  source: '',
  destination: name,
  kind: 'queue',
  bindingKey: name,
  args: emptyTable,
});
