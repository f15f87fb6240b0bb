import { product, versionOf } from '../../../engine/broker/index.js';
import { labelled, type Metric, single } from '../family.js';
import type { Scrape } from '../scrape.js';

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
