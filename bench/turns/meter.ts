import { readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';

/** One turn of the event loop; all times in milliseconds. */
export interface Turn {
  readonly start: number;
  readonly end: number;
  /** Processor time of the main thread. */
  readonly cpu: number;
  /** The part of it in garbage collections. */
  readonly gc: number;
}

/** Shorter turns are not kept. */
const shortest = 0.5;

/**
 * Measures each turn of the event loop of this process: the processor time of the main thread between two calls of
 * `setImmediate`, so that neither other processes nor the threads of the collector count. Linux measures it to some
 * milliseconds. On other systems it is the processor time of the whole process.
 */
export class TurnMeter {
  #turns: { start: number; end: number; cpu: number }[] = [];
  #collections: { start: number; end: number }[] = [];
  #isRunning = false;
  #start = 0;
  #cpu = 0;
  readonly #observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      this.#collections.push({ start: startTime, end: startTime + duration });
    }
  });

  begin(): void {
    this.#turns = [];
    this.#collections = [];
    this.#observer.observe({ entryTypes: ['gc'] });
    this.#isRunning = true;
    this.#mark();
    setImmediate(this.#turn);
  }

  /** @returns the turns since {@link begin}, without those that were too short to count */
  async end(): Promise<readonly Turn[]> {
    this.#isRunning = false;
    await new Promise((resolve) => setTimeout(resolve, 20)); // the observer is called late
    this.#observer.disconnect();
    return this.#turns.map(({ start, end, cpu }) => ({ start, end, cpu, gc: this.#collected(start, end, cpu) }));
  }

  readonly #turn = (): void => {
    const [start, cpu] = [this.#start, this.#cpu];
    this.#mark();
    if (this.#start - start >= shortest) this.#turns.push({ start, end: this.#start, cpu: this.#cpu - cpu });
    if (this.#isRunning) setImmediate(this.#turn);
  };

  #mark(): void {
    this.#start = performance.now();
    this.#cpu = cpuOfMainThread();
  }

  /** The time of collections is elapsed time, so it contains the time of other processes. */
  #collected(start: number, end: number, cpu: number): number {
    let sum = 0;
    for (const each of this.#collections) sum += Math.max(0, Math.min(end, each.end) - Math.max(start, each.start));
    return Math.min(cpu, (sum * cpu) / (end - start));
  }
}

let isLinux = process.platform === 'linux';

function cpuOfMainThread(): number {
  if (isLinux) {
    try {
      return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6;
    } catch {
      isLinux = false;
    }
  }
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
