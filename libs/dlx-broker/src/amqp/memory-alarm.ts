import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Alarm } from './alarms.js';

/** Bytes in use, and how many there may be. */
export interface MemoryUse {
  readonly used: number;
  readonly limit: number;
}

/** How much of the machine's memory messages may take, and of the heap everything else. */
const shareOfMachine = 0.4;
const shareOfHeap = 0.8;

/** The memory of this process. @param limit of heap and buffers together, in bytes */
export function processMemory(limit = totalmem() * shareOfMachine): () => MemoryUse {
  const heapLimit = getHeapStatistics().heap_size_limit * shareOfHeap;
  return () => {
    const { heapUsed, external } = process.memoryUsage();
    // The fuller of the two counts: small messages fill the heap, large ones the memory beside it.
    if (heapUsed / heapLimit > (heapUsed + external) / limit) return { used: heapUsed, limit: heapLimit };
    return { used: heapUsed + external, limit };
  };
}

/** Raised while more is in use than there may be. */
export const memoryAlarm = (measure: () => MemoryUse): Alarm => ({
  resource: 'memory',
  isRaised: () => {
    const { used, limit } = measure();
    return used > limit;
  },
});
