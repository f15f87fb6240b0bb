/** What one run of one peer came to. */
export interface Measurement {
  /** In the unit of the workload. */
  readonly value: number;
  /** Anything else worth a column, by name. */
  readonly extra?: Readonly<Record<string, string>>;
}

/** One thing that is measured, with everybody who can do it. */
export interface Workload {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** Whether a larger value is the better one. */
  readonly more: 'better' | 'worse';
  /** By name; each runs in a process of its own. */
  readonly peers: Readonly<Record<string, () => Measurement | Promise<Measurement>>>;
}

/** Runs what is to be measured; it returns how many it did. @returns how many a second */
export function perSecond(run: () => number): number {
  const start = performance.now();
  const count = run();
  return count / ((performance.now() - start) / 1000);
}

/** The middle one. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

/** What this process has used of the processors so far, in seconds: what else runs on the machine matters less to it. */
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
