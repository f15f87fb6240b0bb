import { closeSync, openSync, readSync } from 'node:fs';
import { type NodeGCPerformanceDetail, PerformanceObserver } from 'node:perf_hooks';

/** One turn of the event loop; all times in milliseconds. */
export interface Turn {
  readonly start: number;
  readonly end: number;
  /** Processor time of the main thread. */
  readonly cpu: number;
  /** The part of it in garbage collections. */
  readonly gc: number;
  /** The kinds of these collections, in their order. */
  readonly kinds: string;
}

interface Collection {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/** Turns of less processor time are not kept. */
const shortest = 0.5;

/** V8's kinds of collections, by the numbers of `perf_hooks.constants`. */
const kinds: Readonly<Record<number, string>> = { 1: 'scavenge', 4: 'mark-compact', 8: 'marking', 16: 'weak' };

/**
 * Measures each turn of the event loop of this process: the processor time of the main thread between two calls of
 * `setImmediate`, so that neither other processes nor the threads of the collector count. On systems other than Linux it is the
 * processor time of the whole process.
 */
export class TurnMeter {
  #turns: { start: number; end: number; cpu: number }[] = [];
  #collections: Collection[] = [];
  #isRunning = false;
  #start = 0;
  #cpu = 0;
  readonly #clock = new ThreadClock();
  readonly #observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { startTime, duration, detail } = entry as typeof entry & { readonly detail?: NodeGCPerformanceDetail };
      const kind = kinds[detail?.kind ?? 0] ?? 'other';
      this.#collections.push({ start: startTime, end: startTime + duration, kind });
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
    let first = 0;
    return this.#turns.map(({ start, end, cpu }) => {
      // Turns and collections are both in the order of time.
      while (first < this.#collections.length && (this.#collections[first] as Collection).end <= start) first++;
      return { start, end, cpu, ...this.#collected(first, start, end, cpu) };
    });
  }

  readonly #turn = (): void => {
    const [start, cpu] = [this.#start, this.#cpu];
    this.#mark();
    if (this.#cpu - cpu >= shortest) this.#turns.push({ start, end: this.#start, cpu: this.#cpu - cpu });
    if (this.#isRunning) setImmediate(this.#turn);
  };

  #mark(): void {
    this.#start = performance.now();
    this.#cpu = this.#clock.milliseconds();
  }

  /** The time of collections is elapsed time, so it contains the time of other processes. */
  #collected(first: number, start: number, end: number, cpu: number): Pick<Turn, 'gc' | 'kinds'> {
    let sum = 0;
    const seen: string[] = [];
    for (let index = first; index < this.#collections.length; index++) {
      const each = this.#collections[index] as Collection;
      if (each.start >= end) break;
      sum += Math.max(0, Math.min(end, each.end) - Math.max(start, each.start));
      seen.push(each.kind);
    }
    return { gc: Math.min(cpu, (sum * cpu) / (end - start)), kinds: seen.join(' ') };
  }
}

/** The processor time of the main thread. */
class ThreadClock {
  readonly #bytes = Buffer.alloc(64);
  #file = process.platform === 'linux' ? openSync('/proc/self/schedstat', 'r') : undefined;

  milliseconds(): number {
    // Linux counts the time of the thread up to now when the usage of its process is asked for, and else every few milliseconds.
    const { user, system } = process.cpuUsage();
    if (this.#file !== undefined) {
      try {
        const length = readSync(this.#file, this.#bytes, 0, this.#bytes.length, 0);
        return Number(this.#bytes.toString('latin1', 0, length).split(' ', 1)[0]) / 1e6;
      } catch {
        closeSync(this.#file);
        this.#file = undefined;
      }
    }
    return (user + system) / 1000;
  }
}
