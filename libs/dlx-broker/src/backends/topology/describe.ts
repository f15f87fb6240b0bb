import type { FieldTable } from '../../engine/message/index.js';
import { showField } from './same-field.js';
import type { Topology } from './topology.js';

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
