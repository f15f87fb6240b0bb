import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { MessageChannel } from 'node:worker_threads';

/** Bytes: V8 begins to collect garbage when the memory beside its heap has grown by 64 MiB. */
const reserved = 80_000_000;

/** Milliseconds between two requests. */
const pause = 2_000;

/**
 * Makes a function that asks V8 to collect garbage, in V8's own steps. An idle process collects nothing: garbage would count as
 * memory in use, and an alarm would never end. The function reserves memory to make V8 begin. The reserved memory is never
 * touched, so the system provides none of it, and it is freed at once.
 * @param now milliseconds of a clock that never goes back
 */
function collector(now: () => number = () => performance.now()): () => void {
  let askedAt = -Infinity;
  return () => {
    if (now() - askedAt < pause) return;
    askedAt = now();
    try {
      const { buffer } = Buffer.allocUnsafeSlow(reserved);
      const { port1, port2 } = new MessageChannel();
      port1.postMessage(buffer, [buffer as ArrayBuffer]);
      port1.close();
      port2.close();
    } catch {
      // The system has no addresses left. V8 then collects garbage without being asked.
    }
  };
}

/** Bytes in use, and how many there may be before publishers have to wait. */
export interface MemoryUse {
  readonly used: number;
  readonly limit: number;
}

/** The memory of the process that V8 uses, in bytes. */
interface HeapUse {
  readonly heapUsed: number;
  readonly external: number;
}

/** Bytes in use: heap and buffers, without what the allocators keep for later. The measure for alarm and management. */
export const bytesInUse = ({ heapUsed, external }: HeapUse): number => heapUsed + external;

/** Up to 1: a share of the memory this process may have, as RabbitMQ's `vm_memory_high_watermark`. Above 1: bytes. */
export type MemoryLimit = number;

/** RabbitMQ's default share. */
const usualShare = 0.4;

/** The share of the heap that may be in use. V8 ends a process whose heap is full. */
const shareOfHeap = 0.8;

/** The memory of the machine and the process, in bytes. Tests give their own. */
export interface MemoryHost {
  /** Of the machine. */
  readonly total: number;
  /** The limit of the container (cgroup, version 1 or 2). Without a limit: 0, or more than the machine has. */
  readonly constrained: number;
  /** The limit of V8's heap. */
  readonly heap: number;
  use(): HeapUse;
  /** Called when more is in use than the limit: a part may be garbage that V8 does not collect while publishers wait. */
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
    // Small messages fill the heap, large ones the memory beside it. The smaller limit counts.
    const use = { used: bytesInUse(measured), limit: Math.min(whole, heap + measured.external) };
    if (use.used > use.limit) host.collect();
    return use;
  };
}

const badLimit = (limit: number): RangeError =>
  new RangeError(
    `memoryLimit must be a share of memory above 0 and up to 1, such as 0.4, or a number of bytes, but is ${limit}`,
  );
