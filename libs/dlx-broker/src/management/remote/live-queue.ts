import type { Queue, VirtualHost } from '../../broker/index.js';
import type { Columns } from '../api/columns.js';
import type { DeadLetterGraph } from '../dlx/graph/dead-letter-graph.js';
import { featuresOf } from '../dlx/queues/features.js';
import type { RawRow } from './lists.js';
import { placeOf, textAt } from './mirror.js';

/** A queue of the server: its row, and its place in the mirror. */
export interface LiveQueue {
  readonly queue: Queue;
  readonly row: RawRow;
  readonly isDeadLetterQueue: boolean;
}

/** @param parked the queues that are parking lots by their name */
export function liveOf(
  row: RawRow,
  queue: Queue,
  { targets }: DeadLetterGraph,
  parked: ReadonlySet<string>,
): LiveQueue {
  return { queue, row, isDeadLetterQueue: targets.has(queue) || parked.has(placeOf(row['vhost'], row['name'])) };
}

/** A number of the server; null while it has not measured one. */
export const numberAt = (row: RawRow, column: string): number | null => {
  const value = row[column];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
};

/** The columns of a queue, as the broker of dlx-broker has them. Null: the server does not say. */
export const liveColumns: Columns<LiveQueue> = {
  vhost: ({ row }) => textAt(row, 'vhost'),
  name: ({ row }) => textAt(row, 'name'),
  type: ({ row }) => textAt(row, 'type') || 'classic',
  durable: ({ row }) => row['durable'] === true,
  exclusive: ({ row }) => row['exclusive'] === true,
  auto_delete: ({ row }) => row['auto_delete'] === true,
  state: stateOf,
  paused: () => null,
  features: ({ queue }) => featuresOf(queue),
  policy: ({ queue, row }) => queue.inForce.policy?.name ?? unknownPolicy(queue, 'user', textAt(row, 'policy')),
  operator_policy: ({ queue, row }) =>
    queue.inForce.operatorPolicy?.name ?? unknownPolicy(queue, 'operator', textAt(row, 'operator_policy')),
  messages_ready: ({ row }) => numberAt(row, 'messages_ready'),
  messages_unacknowledged: ({ row }) => numberAt(row, 'messages_unacknowledged'),
  messages_dlx: ({ row }) => numberAt(row, 'messages_dlx') ?? 0,
  consumers: ({ row }) => numberAt(row, 'consumers'),
  publish_rate: ({ row }) => rateAt(row, 'publish_details'),
  deliver_rate: ({ row }) => rateAt(row, 'deliver_get_details'),
  dead_in_rate: () => null,
  dead_out_rate: () => null,
  dead_letters_in: () => null,
  oldest: () => null,
  dead_letter_queue: ({ isDeadLetterQueue }) => isDeadLetterQueue,
  dead_letter_proven: ({ isDeadLetterQueue }) => (isDeadLetterQueue ? true : null),
};

/**
 * The name of a policy that the mirror does not have; null otherwise. If the mirror has the policy, it no longer applies to the
 * queue: the rows of a server are some seconds old.
 */
function unknownPolicy({ home }: Queue, kind: 'user' | 'operator', name: string): string | null {
  const known = (home as VirtualHost).policies[kind].get(name);
  return name === '' || known !== undefined ? null : name;
}

/** `running`, `idle`, or what the server says: `down`, `crashed`, `minority`, `flow`. */
function stateOf({ row }: LiveQueue): string {
  const state = textAt(row, 'state') || 'running';
  return state === 'running' && textAt(row, 'idle_since') !== '' ? 'idle' : state;
}

/** The server has statistics of a queue after its first message. Before, the rate is 0, unless statistics are off. */
function rateAt(row: RawRow, name: string): number | null {
  const stats = row['message_stats'];
  if (typeof stats !== 'object' || stats === null) return numberAt(row, 'messages_ready') === null ? null : 0;
  const details = (stats as RawRow)[name];
  if (typeof details !== 'object' || details === null) return 0;
  return numberAt(details as RawRow, 'rate') ?? 0;
}
