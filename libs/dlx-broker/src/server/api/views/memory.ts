import { getHeapSpaceStatistics } from 'node:v8';
import { bytesInUse } from '../../../platform/alarms/index.js';

/** Parts of Erlang's memory that this process does not have. */
const none = {
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
    ...none,
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
export function relativeMemoryOf(): object {
  const all = Object.entries(parts());
  const total = all.reduce((sum, [, bytes]) => sum + bytes, 0);
  return { total: 100, ...Object.fromEntries(all.map(([name, bytes]) => [name, Math.ceil((bytes * 100) / total)])) };
}
