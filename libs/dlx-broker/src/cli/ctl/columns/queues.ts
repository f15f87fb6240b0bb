import { type Cell, Fields, Names, Real } from '../format/cell.js';
import { cellOf, type Column, objectOf, plain, type Row, shown } from './column.js';

const isQuorum = (row: Row): boolean => row['type'] === 'quorum';

/** Of classic queues only: RabbitMQ leaves the cell of a quorum queue empty. */
const classic = (name: string, of: (row: Row) => Cell = (row) => cellOf(row[name])): Column => ({
  name,
  of: (row) => (isQuorum(row) ? undefined : of(row)),
});

/** Of quorum queues only. */
const quorum = (name: string, of: (row: Row) => Cell): Column => ({
  name,
  of: (row) => (isQuorum(row) ? of(row) : undefined),
});

const count = (name: string): Column => ({ name, of: (row) => cellOf(row[name] ?? 0) });
const classicCount = (name: string): Column => classic(name, (row) => cellOf(row[name] ?? 0));

/** Nodes of a quorum queue; a single one as it is. */
const nodes = (value: unknown): Cell => (Array.isArray(value) ? new Names(value.map(String)) : undefined);

/** A share of the time between 0 and 1; the integer 0 without a consumer. */
const share = (value: unknown, row: Row): Cell =>
  typeof value === 'number' ? (value === 0 ? 0 : new Real(value)) : row['consumers'] === 0 ? 0 : undefined;

const stat = (name: string): Column => classic(name, (row) => cellOf(objectOf(row['message_stats'])[name] ?? 0));

export const queueColumns: readonly Column[] = [
  shown(plain('name')),
  plain('durable'),
  plain('auto_delete'),
  { name: 'arguments', of: (row) => new Fields(row['arguments']) },
  plain('policy'),
  // The HTTP API has no process ids. The name of the queue stands for its process, the name of the connection for its owner.
  plain('pid', 'name'),
  { name: 'owner_pid', of: (row) => cellOf(objectOf(row['owner_pid_details'])['name']) },
  classic('exclusive'),
  classic('exclusive_consumer_pid', () => undefined),
  classic('exclusive_consumer_tag', (row) => cellOf(row['exclusive_consumer_tag'] || undefined)),
  count('messages_ready'),
  count('messages_unacknowledged'),
  shown(count('messages')),
  classicCount('messages_ready_ram'),
  classicCount('messages_unacknowledged_ram'),
  count('messages_ram'),
  classicCount('messages_persistent'),
  classicCount('message_bytes'),
  classicCount('message_bytes_ready'),
  classicCount('message_bytes_unacknowledged'),
  count('message_bytes_ram'),
  classicCount('message_bytes_persistent'),
  classic('head_message_timestamp', (row) => cellOf(row['head_message_timestamp'] || undefined)),
  stat('disk_reads'),
  stat('disk_writes'),
  count('consumers'),
  classic('consumer_utilisation', (row) => share(row['consumer_utilisation'], row)),
  classic('consumer_capacity', (row) => share(row['consumer_capacity'] ?? row['consumer_utilisation'], row)),
  plain('memory'),
  { name: 'slave_pids', of: () => undefined },
  { name: 'synchronised_slave_pids', of: () => undefined },
  plain('state'),
  plain('type'),
  quorum('leader', (row) => cellOf(row['leader'])),
  quorum('members', (row) => nodes(row['members'])),
  quorum('online', (row) => nodes(row['online'])),
];
