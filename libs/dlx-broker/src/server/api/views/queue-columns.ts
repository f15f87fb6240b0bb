import type { Queue, VirtualHost } from '../../../engine/broker/index.js';
import { pauseToJson, type SeesReason } from '../../dlx/pause.js';
import { happened, type Measure, type Measures } from '../../statistics/measures.js';
import { deliveredNames, queueSeries } from '../../statistics/series.js';
import { tableToJson } from '../field-json.js';
import { type Columns, rowOf } from '../lists.js';
import {
  connectionName,
  consumerColumns,
  consumersOfQueue,
  garbageCollection,
  peerOf,
  timeText,
} from './client-columns.js';

/** RabbitMQ does not compute `delta` for queues with priorities. */
const todo = ['todo', 'todo', 'todo', 'todo'];

/**
 * The inside of a classic queue, as RabbitMQ shows it. All messages are in `q4`, because nothing is paged out to
 * `delta`. It is shown as a whole, whatever `columns` asks for.
 */
function backingQueueStatus(queue: Queue, measure: Measure): object {
  const rate = (name: string): number => Math.max(0, measure.details(name).rate);
  const { lengths } = queue;
  return Object.assign(Object.create(null) as object, {
    avg_ack_egress_rate: rate('ack'),
    avg_ack_ingress_rate: rate('deliver') + rate('get'),
    avg_egress_rate: rate('deliver_get'),
    avg_ingress_rate: rate('publish'),
    delta: lengths === undefined ? ['delta', 'undefined', 0, 0, 'undefined'] : ['delta', ...todo],
    len: queue.length,
    mode: 'default',
    next_deliver_seq_id: measure.value('deliver_get'),
    next_seq_id: queue.lastPosition,
    q1: 0,
    q2: 0,
    q3: 0,
    q4: queue.length,
    target_ram_count: 'infinity',
    version: 1,
    ...(lengths && { priority_lengths: Object.fromEntries(lengths.entries()) }),
  });
}

/** The policy and the operator policy of a queue in one: of two numbers the smaller counts (rule F12). */
function effectivePolicy({ policies }: VirtualHost, queue: Queue): object {
  const effective = Object.create(null) as Record<string, unknown>;
  const definitions = [
    definitionOf(policies.user, queue.inForce.policy?.name),
    definitionOf(policies.operator, queue.inForce.operatorPolicy?.name),
  ];
  for (const definition of definitions) {
    for (const [key, value] of definition) {
      const known = effective[key];
      effective[key] = typeof known === 'number' && typeof value === 'number' ? Math.min(known, value) : value;
    }
  }
  return effective;
}

type Definition = ReadonlyMap<string, unknown>;
type Policies = VirtualHost['policies']['user'];

const definitionOf = (policies: Policies, name: string | undefined): Definition =>
  (name === undefined ? undefined : policies.get(name)?.definition) ?? new Map<string, unknown>();

/** The columns of a queue without statistics. */
export const declaredQueueColumns = (nodeName: string): Columns<Queue> => ({
  arguments: ({ declared }) => tableToJson(declared.arguments),
  auto_delete: ({ declared }) => declared.autoDelete,
  durable: ({ declared }) => declared.durable,
  exclusive: ({ declared }) => declared.owner !== undefined,
  leader: ({ declared }) => (declared.type === 'quorum' ? nodeName : undefined),
  members: ({ declared }) => (declared.type === 'quorum' ? [nodeName] : undefined),
  name: ({ name }) => name,
  node: () => nodeName,
  online: ({ declared }) => (declared.type === 'quorum' ? [nodeName] : undefined),
  state: () => 'running',
  type: ({ declared }) => declared.type,
  vhost: ({ home }) => home.name,
});

/** The columns of a queue in a list. */
export function queueColumns(nodeName: string, measures: Measures, seesReason: SeesReason): Columns<Queue> {
  const counted = (name: string) => (queue: Queue) => measures.of(queue, queueSeries).value(name);
  const details = (name: string) => (queue: Queue) => measures.of(queue, queueSeries).details(name);
  return {
    ...declaredQueueColumns(nodeName),
    ...sizes,
    ...ofType('classic', classicColumns(measures)),
    ...ofType('quorum', quorumColumns(nodeName)),
    consumer_capacity: capacityOf,
    consumer_utilisation: capacityOf,
    consumers: ({ consumers }) => consumers.announced,
    dlx_lost: ({ counters }) => counters.lost || undefined,
    dlx_paused: (queue) => pauseToJson(queue, seesReason) ?? undefined,
    dlx_stalled: ({ stalled }) =>
      stalled && { reason: stalled.reason, since: stalled.since, failures: stalled.failures },
    effective_policy_definition: (queue) => effectivePolicy(queue.home as VirtualHost, queue),
    garbage_collection: () => garbageCollection,
    idle_since: ({ lastUse }) => {
      const since = measures.idle(lastUse);
      return since === undefined ? undefined : timeText(since);
    },
    message_stats: (queue) => happened(measures.of(queue, queueSeries), [['publish'], deliveredNames]),
    messages: counted('messages'),
    messages_details: details('messages'),
    messages_ready: counted('messages_ready'),
    messages_ready_details: details('messages_ready'),
    messages_unacknowledged: counted('messages_unacknowledged'),
    messages_unacknowledged_details: details('messages_unacknowledged'),
    operator_policy: ({ inForce }) => inForce.operatorPolicy?.name ?? null,
    policy: ({ inForce }) => inForce.policy?.name ?? null,
    reductions: () => 0,
    reductions_details: () => measures.unchanging('msg_rates'),
  };
}

/**
 * The columns of a single queue. The lists of channels that publish to it and consume from it are empty, because rates
 * by channel are not RabbitMQ's default.
 */
export const singleQueueColumns = (nodeName: string, measures: Measures, seesReason: SeesReason): Columns<Queue> => ({
  ...queueColumns(nodeName, measures, seesReason),
  consumer_details: (queue) =>
    consumersOfQueue(queue.home as VirtualHost, queue).map((each) => rowOf(each, consumerColumns(nodeName))),
  deliveries: () => [],
  incoming: () => [],
  owner_pid_details: ({ declared: { owner } }) => owner && { name: connectionName(owner), ...peerOf(owner) },
});

const sizes: Columns<Queue> = {
  // All queues share one heap, so only the bodies can be attributed to a queue.
  memory: (queue) => bytesOf(queue),
  message_bytes: (queue) => bytesOf(queue),
  message_bytes_persistent: (queue) => (isQuorum(queue) ? bytesOf(queue) : queue.persistent.bytes),
  message_bytes_ram: (queue) => bytesOf(queue),
  message_bytes_ready: ({ bytes }) => bytes,
  message_bytes_unacknowledged: ({ bytesUnacked }) => bytesUnacked,
  messages_persistent: (queue) => (isQuorum(queue) ? countOf(queue) : queue.persistent.count),
  messages_ram: (queue) => countOf(queue),
};

const isQuorum = ({ declared }: Queue): boolean => declared.type === 'quorum';
/** Rule D8: dead letters that have not reached their targets are in memory as well. */
const bytesRetainedBy = ({ deadLettering }: Queue): number => deadLettering.retained?.bytes ?? 0;
const bytesOf = (queue: Queue): number => queue.bytes + queue.bytesUnacked + bytesRetainedBy(queue);
const countOf = ({ length, unacked, retained, delayed }: Queue): number => length + unacked + retained + delayed;

const classicColumns = (measures: Measures): Columns<Queue> => ({
  backing_queue_status: (queue) => backingQueueStatus(queue, measures.of(queue, queueSeries)),
  exclusive_consumer_tag: ({ consumers }) => (consumers.hasExclusive ? tagOf(consumers.active) : null),
  head_message_timestamp: ({ head }) => {
    const timestamp = head?.own.timestamp;
    return timestamp === undefined ? null : Number(timestamp);
  },
  message_bytes_paged_out: () => 0,
  messages_paged_out: () => 0,
  messages_ready_ram: ({ length }) => length,
  messages_unacknowledged_ram: ({ unacked }) => unacked,
  recoverable_slaves: () => null,
  single_active_consumer_tag: ({ consumers }) => (consumers.singleActive ? tagOf(consumers.active) : null),
});

const quorumColumns = (nodeName: string): Columns<Queue> => ({
  message_bytes_dlx: bytesRetainedBy,
  messages_dlx: ({ retained }) => retained,
  open_files: () => ({ [nodeName]: 0 }),
  single_active_consumer_ctag: ({ consumers }) => (consumers.singleActive ? tagOf(consumers.active) : null),
});

function ofType(type: string, columns: Columns<Queue>): Columns<Queue> {
  const only = (read: (queue: Queue) => unknown) => (queue: Queue) =>
    queue.declared.type === type ? read(queue) : undefined;
  return Object.fromEntries(Object.entries(columns).map(([name, read]) => [name, only(read)]));
}

const tagOf = (consumer: unknown): string | null => (consumer as { readonly tag?: string } | undefined)?.tag ?? null;

/**
 * The share of the time in which consumers could take a message at once. Only the present is known, so it is 0 or 1.
 */
function capacityOf({ consumers, length }: Queue): number {
  if (consumers.count === 0) return 0;
  return length === 0 ? 1 : 0;
}
