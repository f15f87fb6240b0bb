import {
  deadLetterStrategies,
  type DeadLetterStrategy,
  type DeliveryCounters,
  product,
  versionOf,
} from '../../engine/broker/index.js';
import { type DeathReason, deathReasons } from '../../engine/message/index.js';
import { labelled, type Metric, type Series, single } from './family.js';
import type { Scrape } from './meter.js';

/** The protocol of all clients, by RabbitMQ's name. */
const protocol = 'amqp091';

const byProtocol = (
  name: string,
  help: string,
  read: (scrape: Scrape) => number,
  type: 'counter' | 'gauge' = 'counter',
) =>
  labelled<Scrape>(`rabbitmq_global_${name}`, type, ['protocol'], help, (scrape) => [
    { labels: [protocol], value: read(scrape) },
  ]);

/** The queue types, by RabbitMQ's names. */
const queueTypes = { classic: 'rabbit_classic_queue', quorum: 'rabbit_quorum_queue' } as const;

/** One series for each type of queue, from the start: a rate is computed of two values. */
const byQueueType = (name: string, help: string, read: (counters: DeliveryCounters) => number): Metric<Scrape> =>
  labelled(`rabbitmq_global_${name}`, 'counter', ['protocol', 'queue_type'], help, ({ counters, globals }) => {
    const quorum = read(globals.quorum);
    return [
      { labels: [protocol, queueTypes.classic], value: read(counters) - quorum },
      { labels: [protocol, queueTypes.quorum], value: quorum },
    ];
  });

/** The strategies with which a message of a type of queue can die for a reason. */
function strategiesOf(isQuorum: boolean, reason: DeathReason): readonly DeadLetterStrategy[] {
  if (!isQuorum) return reason === 'delivery_limit' ? [] : ['disabled', 'at_most_once'];
  // A queue that drops from its head is never at-least-once (rule M1).
  return reason === 'maxlen' ? ['disabled', 'at_most_once'] : deadLetterStrategies;
}

const deathLabels = ['queue_type', 'dead_letter_strategy'];

const reasonHelp: Readonly<Record<DeathReason, string>> = {
  expired: 'Messages that died because their time to live was over',
  rejected: 'Messages that died because a consumer rejected them',
  maxlen: 'Messages that died because their queue was full',
  delivery_limit: 'Messages that died because they were delivered too often',
};

const deaths = deathReasons.map((reason) =>
  labelled<Scrape>(
    `rabbitmq_global_messages_dead_lettered_${reason}_total`,
    'counter',
    deathLabels,
    reasonHelp[reason],
    ({ globals }) =>
      [false, true].flatMap((isQuorum) =>
        strategiesOf(isQuorum, reason).map((strategy): Series => ({
          labels: [isQuorum ? queueTypes.quorum : queueTypes.classic, strategy],
          value: globals.deaths(isQuorum, reason, strategy),
        })),
      ),
  ),
);

/** RabbitMQ's global counters. */
export const globalFamilies: readonly Metric<Scrape>[] = [
  byProtocol('publishers', 'Channels that have published', ({ totals }) => totals.publishers, 'gauge'),
  byProtocol('consumers', 'Consumers', ({ totals }) => totals.consumers, 'gauge'),
  byProtocol('messages_received_total', 'Messages published', ({ counters }) => counters.publish),
  byProtocol(
    'messages_received_confirm_total',
    'Messages published on channels with confirms',
    ({ globals }) => globals.receivedConfirm,
  ),
  byProtocol('messages_confirmed_total', 'Messages confirmed to publishers', ({ counters }) => counters.confirm),
  byProtocol('messages_routed_total', 'Copies of published messages for queues', ({ globals }) => globals.routed),
  byProtocol(
    'messages_unroutable_dropped_total',
    'Messages that no queue got, and that were dropped',
    ({ counters }) => counters.dropUnroutable,
  ),
  byProtocol(
    'messages_unroutable_returned_total',
    'Messages that no queue got, and that were returned to publishers',
    ({ counters }) => counters.returnUnroutable,
  ),
  byQueueType(
    'messages_delivered_total',
    'Messages delivered to consumers, and got',
    ({ deliver, deliverNoAck, get, getNoAck }) => deliver + deliverNoAck + get + getNoAck,
  ),
  byQueueType(
    'messages_delivered_consume_manual_ack_total',
    'Messages delivered to consumers that acknowledge',
    ({ deliver }) => deliver,
  ),
  byQueueType(
    'messages_delivered_consume_auto_ack_total',
    'Messages delivered to consumers without acknowledgements',
    ({ deliverNoAck }) => deliverNoAck,
  ),
  byQueueType('messages_delivered_get_manual_ack_total', 'Messages got, to be acknowledged', ({ get }) => get),
  byQueueType(
    'messages_delivered_get_auto_ack_total',
    'Messages got without acknowledgements',
    ({ getNoAck }) => getNoAck,
  ),
  byQueueType('messages_get_empty_total', 'Gets that found no message', ({ getEmpty }) => getEmpty),
  byQueueType(
    'messages_redelivered_total',
    'Messages delivered or got that had been returned',
    ({ redeliver }) => redeliver,
  ),
  byQueueType('messages_acknowledged_total', 'Messages acknowledged by consumers', ({ ack }) => ack),
  ...deaths,
  labelled(
    'rabbitmq_global_messages_dead_lettered_confirmed_total',
    'counter',
    deathLabels,
    'Dead letters that all their target queues confirmed',
    ({ globals }) => [{ labels: [queueTypes.quorum, 'at_least_once'], value: globals.confirmedLetters }],
  ),
  labelled(
    'rabbitmq_message_size_bytes',
    'histogram',
    ['protocol'],
    'Bytes of the bodies of published messages',
    ({ globals: { sizes } }) => (sizes === undefined ? [] : [{ labels: [protocol], value: sizes }]),
  ),
];

const gauge = (name: string, help: string, read: (scrape: Scrape) => number): Metric<Scrape> =>
  single(`rabbitmq_${name}`, 'gauge', help, read);
const counter = (name: string, help: string, read: (scrape: Scrape) => number): Metric<Scrape> =>
  single(`rabbitmq_${name}`, 'counter', help, read);

const alarm = (name: string, resource: string, help: string): Metric<Scrape> =>
  single(`rabbitmq_alarms_${name}`, 'untyped', help, ({ of }) => (of.alarms().includes(resource) ? 1 : 0));

/** The series by which dashboards join the others to a node and a cluster. Without them every panel is empty. */
export const infoFamilies: readonly Metric<Scrape>[] = [
  labelled(
    'rabbitmq_build_info',
    'untyped',
    ['rabbitmq_version', 'prometheus_plugin_version', 'prometheus_client_version', 'erlang_version'],
    'Versions. erlang_version is that of Node.js',
    ({ of }) => {
      const version = versionOf(of.broker);
      return [{ labels: [version, version, product.version, process.versions.node], value: 1 }];
    },
  ),
  labelled(
    'rabbitmq_identity_info',
    'untyped',
    ['rabbitmq_node', 'rabbitmq_cluster', 'rabbitmq_cluster_permanent_id', 'rabbitmq_endpoint'],
    'Names of node and cluster. rabbitmq_endpoint is from later releases of RabbitMQ',
    ({ of, endpoint }) => {
      const id = of.broker.parameters.get('internal_cluster_id');
      const cluster = of.broker.clusterName ?? of.nodeName;
      return [{ labels: [of.nodeName, cluster, typeof id === 'string' ? id : '', endpoint], value: 1 }];
    },
  ),
];

/** RabbitMQ's metrics of a node: the present number of each kind of object, and how many were created and closed. */
export const nodeFamilies: readonly Metric<Scrape>[] = [
  gauge('connections', 'Open connections', ({ totals }) => totals.connections),
  gauge('channels', 'Open channels', ({ totals }) => totals.channels),
  gauge('queues', 'Queues', ({ totals }) => totals.queues),
  gauge('consumers', 'Consumers', ({ totals }) => totals.consumers),
  counter('connections_opened_total', 'Connections opened', ({ counters }) => counters.connectionCreated),
  counter('connections_closed_total', 'Connections closed', ({ counters }) => counters.connectionClosed),
  counter('channels_opened_total', 'Channels opened', ({ counters }) => counters.channelCreated),
  counter('channels_closed_total', 'Channels closed', ({ counters }) => counters.channelClosed),
  counter('queues_declared_total', 'Declarations of queues', ({ counters }) => counters.queueDeclared),
  counter('queues_created_total', 'Queues created', ({ counters }) => counters.queueCreated),
  counter('queues_deleted_total', 'Queues deleted', ({ counters }) => counters.queueDeleted),
  gauge(
    'process_resident_memory_bytes',
    'Memory in use, as the alarm measures it',
    ({ of }) => of.machine.memory().used,
  ),
  gauge('resident_memory_limit_bytes', 'Memory above which publishers wait', ({ of }) => of.machine.memory().limit),
  gauge('disk_space_available_bytes', 'Free bytes of the disk', ({ of }) => of.machine.diskFree),
  gauge('disk_space_available_limit_bytes', 'Free bytes below which publishers wait', ({ of }) => of.diskLimit),
  gauge('process_open_fds', 'Open files and sockets', ({ of }) => of.machine.files),
  gauge('process_max_fds', 'The most open files and sockets', ({ of }) => of.machine.filesLimit),
  gauge('process_open_tcp_sockets', 'Open connections of clients', ({ of }) => of.machine.connections),
  gauge('process_max_tcp_sockets', 'The most open files and sockets', ({ of }) => of.machine.filesLimit),
  gauge('erlang_uptime_seconds', 'Seconds since the process started', () => Math.floor(process.uptime())),
  alarm('memory_used_watermark', 'memory', '1 while publishers wait for memory'),
  alarm('free_disk_space_watermark', 'disk', '1 while publishers wait for space on the disk'),
  alarm('file_descriptor_limit', 'file_descriptor_limit', 'Always 0: connections are refused by a limit of their own'),
];
