import type { Broker } from '../../engine/broker/index.js';
import type { MemoryUse } from '../../platform/alarms/index.js';
import { Machine, machineSeries } from './machine.js';
import {
  channelSeries,
  churnSeries,
  connectionSeries,
  exchangeSeries,
  queueSeries,
  type Series,
  vhostSeries,
} from './series.js';

/** The counts of one time. */
interface Sample {
  readonly time: number;
  readonly values: readonly number[];
}

/** For how long all samples are kept, in milliseconds. Of older samples one a minute is kept. */
const dense = 600_000;
const sparse = 60_000;

/**
 * The samples of one object, oldest first. A sample is kept only if a count has changed. Before the first sample all
 * counts are 0.
 */
export class History {
  #samples: Sample[] = [];

  get length(): number {
    return this.#samples.length;
  }

  add(time: number, values: readonly number[]): void {
    const last = this.#samples.at(-1);
    if (last === undefined || last.values.some((value, index) => value !== values[index])) {
      this.#samples.push({ time, values });
    }
  }

  /** The time of the last sample, and so of the last known change. */
  get lastChange(): number | undefined {
    return this.#samples.at(-1)?.time;
  }

  /** The counts at a time; undefined before the first sample. */
  at(time: number): readonly number[] | undefined {
    for (let index = this.#samples.length - 1; index >= 0; index--) {
      const sample = this.#samples[index] as Sample;
      if (sample.time <= time) return sample.values;
    }
    return undefined;
  }

  /** The counts at a time, or those of the first sample if it is later; undefined without samples. */
  atOrFirst(time: number): readonly number[] | undefined {
    return this.at(time) ?? this.#samples[0]?.values;
  }

  /** Removes samples older than `age`, except the one whose counts still held then, and thins out old samples. */
  trim(now: number, age: number): void {
    const samples = this.#samples;
    this.#samples = samples.filter(({ time }, index) => {
      const next = samples[index + 1];
      if (next === undefined) return true;
      if (next.time <= now - age) return false;
      return time > now - dense || Math.floor(time / sparse) !== Math.floor(next.time / sparse);
    });
  }
}

/** The time between samples in milliseconds, RabbitMQ's `collect_statistics_interval`. */
export const interval = 5_000;

/** The number of samples above which only those of the last minute are kept. */
const budget = 200_000;
const longestPast = 3_900_000;
const shortPast = 60_000;
/** The most virtual hosts whose samples are kept even if there are many samples of other objects. */
const fewVhosts = 100;
/** The number of sample times that are remembered, for charts. */
const rememberedTimes = 61;

/**
 * Samples of the counts of a broker, taken at a steady interval while the API is in use. Answers have the present
 * counts; samples give their rates and their past.
 */
export class Statistics {
  readonly machine: Machine;
  readonly #broker: Broker;
  readonly #now: () => number;
  readonly #histories = new WeakMap<object, History>();
  #times: [beforeLast: number, last: number];
  #recent: readonly number[] = [];
  #kept = 0;

  /**
   * @param directory the disk with this directory is measured; default: that of the working directory
   * @param memory the measure that raises the memory alarm
   */
  constructor(broker: Broker, now: () => number, directory?: string, memory?: () => MemoryUse) {
    this.#broker = broker;
    this.machine = new Machine(broker, directory, memory);
    this.#now = now;
    this.#times = [now(), now()];
    this.sample();
  }

  /** Takes a sample of everything. Its owner calls it every {@link interval} milliseconds. */
  sample(): void {
    const now = this.#now();
    this.#times = [this.#times[1], now];
    const past = this.#kept > budget ? shortPast : longestPast;
    this.#kept = 0;
    const keep = <T extends object>(items: Iterable<T>, series: Series<T>, age = past): void => {
      for (const item of items) this.#kept += this.#keep(item, series, now, age);
    };
    keep([this.#broker], churnSeries);
    keep([this.machine], machineSeries);
    const vhosts = this.#broker.virtualHosts;
    for (const vhost of vhosts.values()) {
      keep([vhost], vhostSeries, vhosts.size <= fewVhosts ? longestPast : past);
      keep(vhost.exchanges.values(), exchangeSeries);
      keep(vhost.queues.values(), queueSeries);
      keep(vhost.connections, connectionSeries);
      for (const connection of vhost.connections) keep(connection.channels, channelSeries);
    }
    this.#recent = [...this.#recent, now].slice(-rememberedTimes);
  }

  /** The beginning of the time over which rates are computed: five to ten seconds ago, or the first sample. */
  get windowStart(): number {
    return this.#times[0];
  }

  /** The times of the last complete samples, oldest first: up to 61, five minutes. */
  get recentTimes(): readonly number[] {
    return this.#recent;
  }

  history(item: object): History | undefined {
    return this.#histories.get(item);
  }

  /**
   * Adds a sample of an object.
   * @returns the number of its samples
   */
  #keep<T extends object>(item: T, series: Series<T>, now: number, past: number): number {
    let history = this.#histories.get(item);
    if (history === undefined) this.#histories.set(item, (history = new History()));
    history.add(now, series.read(item));
    if (history.length > 1) history.trim(now, past);
    return history.length;
  }
}
