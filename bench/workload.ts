/** The result of one run of one peer. */
export interface Measurement {
  /** In the unit of the workload. */
  readonly value: number;
  /** Other values, by name. */
  readonly extra?: Readonly<Record<string, string>>;
}

/** One measurement, with all peers that can do it. */
export interface Workload {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** Whether a larger value is better. */
  readonly more: 'better' | 'worse';
  /** By name; each runs in a process of its own. */
  readonly peers: Readonly<Record<string, () => Measurement | Promise<Measurement>>>;
}

/** Runs a measured function, which returns the number of operations. @returns operations a second */
export function perSecond(run: () => number): number {
  const start = performance.now();
  const count = run();
  return count / ((performance.now() - start) / 1000);
}

/** The median. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

/** The processor time of this process until now, in seconds. Other processes have less influence on it than on elapsed time. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

/** Heap and buffers in use, in bytes; the process runs with `--expose-gc`. */
export function memoryInUse(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
