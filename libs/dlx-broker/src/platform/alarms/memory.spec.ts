import { describe, expect, it } from 'vitest';
import { type MemoryHost, processMemory } from './memory.js';

const gigabyte = 2 ** 30;
const host = (more: Partial<MemoryHost> = {}): MemoryHost => ({
  total: 16 * gigabyte,
  constrained: 0,
  heap: 4 * gigabyte,
  use: () => ({ heapUsed: 100, external: 50 }),
  collect: () => undefined,
  ...more,
});

describe('memory', () => {
  it('in use is heap and buffers', () => {
    expect(processMemory(0.1, host())().used).toBe(150);
  });

  it.each<[string, number | undefined, Partial<MemoryHost>, number]>([
    ['0.4 of the machine', undefined, { heap: 64 * gigabyte }, 0.4 * 16 * gigabyte],
    ['of the container where it has less', undefined, { constrained: gigabyte }, 0.4 * gigabyte],
    ['of the machine where a container has no limit', 0.1, { constrained: 2 ** 64 }, 1.6 * gigabyte],
    ['another share', 0.75, { constrained: gigabyte }, 0.75 * gigabyte],
    ['in bytes', 300_000_000, { constrained: gigabyte }, 300_000_000],
    ['1 is all of it', 1, { constrained: gigabyte }, gigabyte],
    ['0.8 of the heap where that is less, buffers not counted', undefined, { heap: gigabyte }, 0.8 * gigabyte + 50],
  ])('is limited: %s', (_, limit, more, expected) => {
    expect(processMemory(limit, host(more))().limit).toBe(Math.floor(expected));
  });

  it('of this very process can be measured', () => {
    const { used, limit } = processMemory()();
    expect(used).toBeGreaterThan(1_000_000);
    expect(limit).toBeGreaterThan(1_000_000);
  });
});
