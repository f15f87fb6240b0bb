import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { collector } from './collect.js';

/** Bytes in use, and how many there may be before publishers have to wait. */
export interface MemoryUse {
  readonly used: number;
  readonly limit: number;
}

/** What V8 has of the memory of a process, in bytes. */
interface HeapUse {
  readonly heapUsed: number;
  readonly external: number;
}

/** Bytes in use: heap and buffers, without what the allocators keep for later. The measure for alarm and management. */
export const bytesInUse = ({ heapUsed, external }: HeapUse): number => heapUsed + external;

/** Up to 1 a share of the memory this process may have, as RabbitMQ's `vm_memory_high_watermark`; above it bytes. */
export type MemoryLimit = number;

/** What RabbitMQ leaves to messages. */
const usualShare = 0.4;

/** How much of the heap there may be: beyond it V8 ends the process. */
const shareOfHeap = 0.8;

/** What the process runs on, in bytes; lent by tests. */
export interface MemoryHost {
  /** Of the machine. */
  readonly total: number;
  /** What the container may have (cgroup, version 1 or 2); 0 or more than there is without a limit. */
  readonly constrained: number;
  /** How large V8 lets the heap become. */
  readonly heap: number;
  use(): HeapUse;
  /** More is in use than there may be; some of it may be garbage that nothing collects while publishers wait. */
  collect(): void;
}

const thisProcess = (): MemoryHost => ({
  total: totalmem(),
  constrained: process.constrainedMemory(),
  heap: getHeapStatistics().heap_size_limit,
  use: () => process.memoryUsage(),
  collect: collector(),
});

/**
 * Measures the memory of this process: heap and buffers, without what the allocators keep for later. The one measure and
 * the one limit for alarm, management and health checks.
 * @throws RangeError when the limit is neither a share nor a number of bytes
 * @param limit for all of it; the heap alone has a limit of its own, four fifths of what V8 allows, which counts as well
 */
export function processMemory(limit: MemoryLimit = usualShare, host = thisProcess()): () => MemoryUse {
  if (!(limit > 0 && limit < Infinity)) throw badLimit(limit);
  const { total, constrained } = host;
  const available = constrained > 0 && constrained < total ? constrained : total;
  const whole = Math.floor(limit <= 1 ? available * limit : limit);
  const heap = Math.floor(host.heap * shareOfHeap);
  return () => {
    const measured = host.use();
    // Small messages fill the heap, large ones the memory beside it: whichever is short comes first.
    const use = { used: bytesInUse(measured), limit: Math.min(whole, heap + measured.external) };
    if (use.used > use.limit) host.collect();
    return use;
  };
}

const badLimit = (limit: number): RangeError =>
  new RangeError(
    `memoryLimit must be a share of memory above 0 and up to 1, such as 0.4, or a number of bytes, but is ${limit}`,
  );
