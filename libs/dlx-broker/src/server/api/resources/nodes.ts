import { availableParallelism } from 'node:os';
import { getHeapSpaceStatistics } from 'node:v8';
import { product, type User, versionOf, type VirtualHost } from '../../../engine/broker/index.js';
import { bytesInUse } from '../../../platform/alarms/index.js';
import { isOf } from '../../http/auth.js';
import { notFound, ok } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import { type Management, portsOf, withoutStatistics } from '../../management.js';
import { machineSeries } from '../../statistics/machine.js';
import { happened, type Measure, withDetails } from '../../statistics/measures.js';
import { churnSeries, deliveredNames, publishedNames, vhostSeries } from '../../statistics/series.js';
import { type Columns, listOf, oneOf } from '../lists.js';
import { exchangeTypeRows } from '../views/exchange-columns.js';

const lengths: readonly string[] = ['messages', 'messages_ready', 'messages_unacknowledged'];

/** For how full seconds RabbitMQ keeps samples. This broker keeps them as long. */
const retention = { global: [600, 3600], basic: [600, 3600], detailed: [600] };

const get: Handler = (request, management) => {
  const vhosts = management.vhostsOf(request.user);
  const columns = {
    ...about(request, management),
    ...(withoutStatistics(request) ? few : many)(request, vhosts, management),
  };
  return oneOf(request, undefined, columns);
};

function about({ query }: ApiRequest, { broker, clusterName }: Management): Columns<undefined> {
  const version = versionOf(broker);
  const facts = {
    management_version: version,
    rates_mode: 'basic',
    sample_retention_policies: retention,
    exchange_types: exchangeTypeRows,
    product_version: product.version,
    product_name: product.name,
    rabbitmq_version: version,
    cluster_name: clusterName,
    // Node.js is in the place of Erlang, under the keys that tools read.
    erlang_version: process.versions.node,
    erlang_full_version: `Node.js ${process.version} ${process.platform} ${process.arch}`,
    release_series_support_status: 'supported',
    disable_stats: query.get('disable_stats') === 'true',
    enable_queue_totals: query.get('enable_queue_totals') === 'true',
  };
  return asColumns(facts);
}

type Rest = (request: ApiRequest, vhosts: readonly VirtualHost[], management: Management) => Columns<undefined>;

const few: Rest = ({ user }, vhosts, { nodeName }) => ({
  node: () => nodeName,
  object_totals: () => {
    const { consumers: _, channels: __, connections, ...rest } = totals(vhosts, user);
    return whole(isOf('monitor', user) ? { ...rest, connections } : rest);
  },
});

const many: Rest = (request, vhosts, management) => {
  const { user } = request;
  const { broker, nodeName } = management;
  const measures = management.measures(request);
  const sums = (): Measure => measures.sum(vhosts, vhostSeries);
  const forAll: Columns<undefined> = {
    message_stats: () => whole(messageStats(sums())),
    churn_rates: () => whole(withDetails(measures.of(broker, churnSeries), churnSeries.names)),
    queue_totals: () => whole(totals(vhosts, user).queues === 0 ? {} : withDetails(sums(), lengths)),
    object_totals: () => whole(totals(vhosts, user)),
    statistics_db_event_queue: () => 0,
  };
  if (!isOf('monitor', user)) return forAll;
  return {
    ...forAll,
    node: () => nodeName,
    listeners: () => listeners(management),
    contexts: () => contexts(management).map((each) => ({ ssl_opts: [], node: management.nodeName, ...each })),
  };
};

/** RabbitMQ includes the reads and writes of its disk. Here they are 0, because nothing is paged out. */
function messageStats(measure: Measure): object {
  const stats = happened(measure, [publishedNames, deliveredNames]);
  if (stats === undefined) return {};
  const none = { rate: 0 };
  return { ...stats, disk_reads: 0, disk_reads_details: none, disk_writes: 0, disk_writes_details: none };
}

function totals(vhosts: readonly VirtualHost[], user: User): Record<string, number> {
  const sum = (count: (vhost: VirtualHost) => number): number => vhosts.reduce((all, vhost) => all + count(vhost), 0);
  const connections = vhosts.flatMap((vhost) => [...vhost.connections]);
  const own = isOf('monitor', user) ? connections : connections.filter((each) => each.user?.name === user.name);
  const channels = own.flatMap((connection) => [...connection.channels]);
  return {
    channels: channels.length,
    connections: own.length,
    ...(isOf('monitor', user) && {
      consumers: channels.reduce((all, { receiver }) => all + receiver.consumers.size, 0),
    }),
    exchanges: sum(({ exchanges }) => exchanges.size),
    queues: sum(({ queues }) => queues.size),
  };
}

const listeners = (management: Management): readonly object[] =>
  portsOf(management).map(({ protocol, host, port }) => ({
    node: management.nodeName,
    protocol,
    ip_address: host,
    port,
    socket_opts: protocol.startsWith('http') ? { port } : { backlog: 1024, nodelay: true },
  }));

/** The ports of the HTTP API. */
export const contexts = (management: Management): readonly object[] =>
  portsOf(management)
    .filter(({ protocol }) => protocol.startsWith('http'))
    .map(({ port }) => ({
      description: 'RabbitMQ Management',
      path: '/',
      cowboy_opts: '[]',
      port: String(port),
    }));

/** An object that the parameter `columns` shows whole or not at all, as RabbitMQ does. */
const whole = (row: object): object => Object.assign(Object.create(null) as object, row);

export const overview: readonly Resource[] = [{ path: '/overview', allows: 'management', GET: get }];

/** Parts of Erlang's memory that this process does not have. */
const absent =
  'connection_readers connection_writers connection_channels connection_other queue_procs queue_slave_procs ' +
  'quorum_queue_procs quorum_queue_dlx_procs stream_queue_procs stream_queue_replica_reader_procs ' +
  'stream_queue_coordinator_procs plugins metrics mgmt_db mnesia quorum_ets other_ets msg_index atom';

const zeros = (names: string): Readonly<Record<string, number>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, 0]));

/** The memory of this process under RabbitMQ's names: message bodies are binaries, the rest is the heap. */
function parts(): Readonly<Record<string, number>> {
  const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const code = getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name.includes('code'))
    .reduce((sum, { space_used_size: size }) => sum + size, 0);
  return {
    ...zeros(absent),
    other_proc: heapUsed - code,
    binary: arrayBuffers,
    code,
    other_system: external - arrayBuffers,
    allocated_unused: heapTotal - heapUsed,
    reserved_unallocated: Math.max(0, rss - heapTotal - external),
  };
}

/** The parts of the memory in bytes. */
export function memoryOf(): object {
  const use = process.memoryUsage();
  return {
    ...parts(),
    strategy: 'rss',
    total: { erlang: bytesInUse(use), rss: use.rss, allocated: use.heapTotal + use.external },
  };
}

/** The parts of the memory in per cent of the total, rounded up. */
function relativeMemoryOf(): object {
  const all = Object.entries(parts());
  const total = all.reduce((sum, [, bytes]) => sum + bytes, 0);
  return { total: 100, ...Object.fromEntries(all.map(([name, bytes]) => [name, Math.ceil((bytes * 100) / total)])) };
}

const getAll: Handler = (request, management) =>
  listOf(request, management, [undefined], columnsFor(request, management));

const getOne: Handler = (request, management) => {
  checkNode(request, management);
  const columns = columnsFor(request, management);
  const asked: Columns<undefined> = request.query.get('memory') === 'true' ? { memory: memoryOf } : {};
  return oneOf(request, undefined, { ...columns, ...asked });
};

function columnsFor(request: ApiRequest, management: Management): Columns<undefined> {
  const place = { name: management.nodeName, running: true, type: 'disc' };
  return asColumns(
    withoutStatistics(request) ? place : { ...place, ...facts(management), ...numbers(request, management) },
  );
}

const asColumns = (row: object): Columns<undefined> =>
  Object.fromEntries(Object.entries(row).map(([key, value]) => [key, () => value]));

function facts(management: Management): object {
  const { broker, host, statistics } = management;
  const { machine } = statistics;
  const alarms = host.alarms?.() ?? [];
  const faults = host.faults?.() ?? [];
  const version = versionOf(broker);
  return {
    applications: [{ name: 'rabbit', description: 'dlx-broker', version }],
    auth_mechanisms: [
      mechanism('AMQPLAIN', 'QPid AMQPLAIN mechanism'),
      mechanism('PLAIN', 'SASL PLAIN authentication mechanism'),
    ],
    cluster_links: [],
    config_files: [],
    contexts: contexts(management),
    db_dir: machine.directory,
    disk_free_alarm: alarms.includes('disk') || faults.length > 0,
    disk_free_limit: host.data?.freeLimit ?? 0,
    ...(faults.length > 0 && { dlx_faults: faults }),
    enabled_plugins: ['rabbitmq_management'],
    exchange_types: exchangeTypeRows,
    fd_total: machine.filesLimit,
    log_files: ['<stdout>'],
    mem_alarm: alarms.includes('memory'),
    mem_calculation_strategy: 'allocated',
    mem_limit: machine.memory().limit,
    metrics_gc_queue_length: zeros(collected),
    net_ticktime: 60,
    os_pid: String(process.pid),
    partitions: [],
    proc_total: 1_048_576,
    processors: availableParallelism(),
    ra_open_file_metrics: { ra_log_wal: 0, ra_log_segment_writer: 0 },
    rates_mode: 'basic',
    run_queue: 0,
    sockets_total: machine.filesLimit,
    uptime: Math.round(process.uptime() * 1000),
  };
}

const mechanism = (name: string, description: string): object => ({ name, description, enabled: true });

/** Queues of RabbitMQ for objects whose statistics are not deleted yet. Here they are deleted at once, so each is 0. */
const collected =
  'connection_closed channel_closed consumer_deleted exchange_deleted queue_deleted vhost_deleted node_node_deleted ' +
  'channel_consumer_deleted';

/** Numbers of RabbitMQ's files, database and garbage collectors, which this broker does not have: each is 0. */
const nothing =
  'gc_num gc_bytes_reclaimed io_read_bytes io_read_avg_time io_write_bytes io_write_avg_time io_sync_count ' +
  'io_sync_avg_time io_seek_count io_seek_avg_time io_reopen_count mnesia_ram_tx_count mnesia_disk_tx_count ' +
  'msg_store_read_count msg_store_write_count queue_index_write_count queue_index_read_count';

function numbers(request: ApiRequest, management: Management): object {
  const measures = management.measures(request);
  const { broker, statistics } = management;
  const row: Record<string, unknown> = {
    ...withDetails(measures.of(statistics.machine, machineSeries), machineSeries.names),
    ...withDetails(measures.of(broker, churnSeries), churnSeries.names),
  };
  for (const name of nothing.split(' ')) {
    row[name] = 0;
    row[`${name}_details`] = { rate: 0 };
  }
  return row;
}

const memory =
  (read: () => object): Handler =>
  (request, management) => {
    checkNode(request, management);
    return ok({ memory: read() });
  };

/**
 * Refuses the name of another node.
 * @throws Problem 404
 */
function checkNode(request: ApiRequest, { nodeName }: Management): void {
  if (request.name('node') !== nodeName) throw notFound();
}

export const nodes: readonly Resource[] = [
  { path: '/nodes', allows: 'monitor', GET: getAll },
  { path: '/nodes/:node', allows: 'monitor', GET: getOne },
  { path: '/nodes/:node/memory', allows: 'monitor', GET: memory(memoryOf) },
  { path: '/nodes/:node/memory/relative', allows: 'monitor', GET: memory(relativeMemoryOf) },
];
