import { availableParallelism } from 'node:os';
import { getHeapSpaceStatistics } from 'node:v8';
import { versionOf } from '../../../engine/broker/index.js';
import { bytesInUse } from '../../../platform/alarms/index.js';
import { notFound, ok } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import { type Management, withoutStatistics } from '../../management.js';
import { machineSeries } from '../../statistics/machine.js';
import { withDetails } from '../../statistics/measures.js';
import { churnSeries } from '../../statistics/series.js';
import { type Columns, listOf, oneOf } from '../lists.js';
import { exchangeTypeRows } from '../views/exchange-columns.js';
import { contexts } from './overview.js';

/** Parts of Erlang's memory that this process does not have. */
const absent = {
  connection_readers: 0,
  connection_writers: 0,
  connection_channels: 0,
  connection_other: 0,
  queue_procs: 0,
  queue_slave_procs: 0,
  quorum_queue_procs: 0,
  quorum_queue_dlx_procs: 0,
  stream_queue_procs: 0,
  stream_queue_replica_reader_procs: 0,
  stream_queue_coordinator_procs: 0,
  plugins: 0,
  metrics: 0,
  mgmt_db: 0,
  mnesia: 0,
  quorum_ets: 0,
  other_ets: 0,
  msg_index: 0,
  atom: 0,
} as const;

/** The memory of this process under RabbitMQ's names: message bodies are binaries, the rest is the heap. */
function parts(): Readonly<Record<string, number>> {
  const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const code = getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name.includes('code'))
    .reduce((sum, { space_used_size: size }) => sum + size, 0);
  return {
    ...absent,
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
    metrics_gc_queue_length: Object.fromEntries(collected.map((name) => [name, 0])),
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
const collected = [
  'connection_closed',
  'channel_closed',
  'consumer_deleted',
  'exchange_deleted',
  'queue_deleted',
  'vhost_deleted',
  'node_node_deleted',
  'channel_consumer_deleted',
];

/** Numbers of RabbitMQ's files, database and garbage collectors, which this broker does not have: each is 0. */
const nothing = [
  'gc_num',
  'gc_bytes_reclaimed',
  'io_read_bytes',
  'io_read_avg_time',
  'io_write_bytes',
  'io_write_avg_time',
  'io_sync_count',
  'io_sync_avg_time',
  'io_seek_count',
  'io_seek_avg_time',
  'io_reopen_count',
  'mnesia_ram_tx_count',
  'mnesia_disk_tx_count',
  'msg_store_read_count',
  'msg_store_write_count',
  'queue_index_write_count',
  'queue_index_read_count',
];

function numbers(request: ApiRequest, management: Management): object {
  const measures = management.measures(request);
  const { broker, statistics } = management;
  const row: Record<string, unknown> = {
    ...withDetails(measures.of(statistics.machine, machineSeries), machineSeries.names),
    ...withDetails(measures.of(broker, churnSeries), churnSeries.names),
  };
  for (const name of nothing) {
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
