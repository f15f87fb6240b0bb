import { entriesOf, Fields, Names } from '../format/cell.js';
import { cellOf, type Column, objectOf, plain, shown } from './column.js';

const fields: Column = { name: 'arguments', of: (row) => new Fields(row['arguments']) };

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

export const exchangeColumns: readonly Column[] = [
  shown(plain('name')),
  shown(plain('type')),
  plain('durable'),
  plain('auto_delete'),
  plain('internal'),
  fields,
  plain('policy'),
];

export const bindingColumns: readonly Column[] = [
  shown(plain('source_name', 'source')),
  shown({ name: 'source_kind', of: () => 'exchange' }),
  shown(plain('destination_name', 'destination')),
  shown(plain('destination_kind', 'destination_type')),
  shown(plain('routing_key')),
  // RabbitMQ keeps those of a binding in the order of their names.
  shown({
    name: 'arguments',
    of: (row) => new Fields(Object.fromEntries([...entriesOf(row['arguments'])].toSorted(byName))),
  }),
];

export const vhostColumns: readonly Column[] = [
  shown(plain('name')),
  plain('tracing'),
  { name: 'cluster_state', of: (row) => new Fields(row['cluster_state']) },
  plain('description'),
  { name: 'tags', of: (row) => new Names(Array.isArray(row['tags']) ? row['tags'].map(String) : []) },
  { name: 'default_queue_type', of: (row) => cellOf(row['default_queue_type'] ?? 'undefined') },
];

export const consumerColumns: readonly Column[] = [
  shown({ name: 'queue_name', of: (row) => cellOf(objectOf(row['queue'])['name']) }),
  shown({ name: 'channel_pid', of: (row) => cellOf(objectOf(row['channel_details'])['name']) }),
  shown(plain('consumer_tag')),
  shown(plain('ack_required')),
  shown(plain('prefetch_count')),
  shown(plain('active')),
  plain('activity_status'),
  shown(fields),
];
