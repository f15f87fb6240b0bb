import { UsageError } from './usage.js';

/** The result of one run of one peer. */
export interface Measurement {
  /** In the unit of the workload. */
  readonly value: number;
  /** Other values, by name. */
  readonly extra?: Readonly<Record<string, string>>;
  /**
   * Processor time of one operation in microseconds, for a run with a fixed duration, and for one whose work is done by other
   * processes. Other runs do a fixed amount of work: the processor time of the whole run is as good.
   */
  readonly cpu?: number;
}

/** A program that may be installed, see peers/programs.ts. */
export type Need = 'redis' | 'rabbitMq';

/** One measurement, with all peers that can do it. */
export interface Workload {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** Whether a larger value is better. */
  readonly more: 'better' | 'worse';
  /** By name; each runs in a process of its own. */
  readonly peers: Readonly<Record<string, () => Measurement | Promise<Measurement>>>;
  /** The program that a peer cannot do without. Without it the peer has no row. */
  readonly needs?: Readonly<Record<string, Need>>;
  /** Peers that are no alternative, but a limit: what remains when the broker is taken away. */
  readonly limits?: readonly string[];
}

/**
 * The workloads with these names: `W9` is all that begin with it, `W9 emit` that one; all of them without a name.
 * @throws UsageError for a name that no workload has
 */
export function select<One extends { readonly id: string }>(
  all: readonly One[],
  names: readonly string[],
): readonly One[] {
  const isCalled = ({ id }: One, name: string): boolean =>
    id === name || id.startsWith(`${name} `) || id.startsWith(`${name},`);
  for (const name of names) {
    if (all.some((one) => isCalled(one, name))) continue;
    const known = [...new Set(all.map(({ id }) => `'${id}'`))];
    throw new UsageError(`there is no workload '${name}'; there are ${known.join(', ')}`);
  }
  return names.length === 0 ? all : all.filter((one) => names.some((name) => isCalled(one, name)));
}

/** Runs a measured function, which returns the number of operations. @returns operations a second */
export function perSecond(run: () => number): number {
  const start = performance.now();
  const count = run();
  return count / ((performance.now() - start) / 1000);
}

/** The median. */
export function median(values: readonly number[] | Float64Array): number {
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
