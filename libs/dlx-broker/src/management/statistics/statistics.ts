import type { MemoryUse } from '../../alarms/index.js';
import type { Broker } from '../../broker/index.js';
import { inTurns, type Turns } from '../http/turns.js';
import { History } from './history.js';
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

/** Milliseconds between samples, as RabbitMQ's `collect_statistics_interval`. */
export const interval = 5_000;

/** Samples kept of all objects together; with more of them the past is shorter. */
const budget = 200_000;
const longestPast = 3_900_000;
const shortPast = 60_000;

/**
 * Samples of what the broker counts, taken at a steady interval while the API is in use. A number in an answer is
 * always the one of this moment; the samples are for its rate and its past.
 */
export class Statistics {
  readonly machine: Machine;
  readonly #broker: Broker;
  readonly #now: () => number;
  readonly #histories = new WeakMap<object, History>();
  #times: [beforeLast: number, last: number];
  #kept = 0;
  #isSampling = false;

  /**
   * @param directory whose disk counts: where messages are kept, else where this process is
   * @param memory the measure of the alarm
   */
  constructor(broker: Broker, now: () => number, directory?: string, memory?: () => MemoryUse) {
    this.#broker = broker;
    this.machine = new Machine(broker, directory, memory);
    this.#now = now;
    this.#times = [now(), now()];
    this.sample();
  }

  /** Takes a sample of everything at once. */
  sample(): void {
    const work = this.#sampling();
    while (work.next().done !== true) continue;
  }

  /** The same in turns; to be called every {@link interval} milliseconds. While one is under way there is no other. */
  async sampleIn(turns: Turns): Promise<void> {
    if (this.#isSampling) return;
    this.#isSampling = true;
    try {
      await inTurns(this.#sampling(), turns);
    } finally {
      this.#isSampling = false;
    }
  }

  /** What is counted of an object is as of the moment when its turn comes, and counted from the beginning of all. */
  *#sampling(): Generator<void, void, void> {
    const now = this.#now();
    this.#times = [this.#times[1], now];
    const past = this.#kept > budget ? shortPast : longestPast;
    let kept = 0;
    const keep = function* <T extends object>(
      statistics: Statistics,
      items: Iterable<T>,
      series: Series<T>,
    ): Generator<void, void, void> {
      for (const item of items) {
        kept += statistics.#keep(item, series, now, past);
        yield;
      }
    };
    yield* keep(this, [this.#broker], churnSeries);
    yield* keep(this, [this.machine], machineSeries);
    for (const vhost of this.#broker.virtualHosts.values()) {
      yield* keep(this, [vhost], vhostSeries);
      yield* keep(this, vhost.exchanges.values(), exchangeSeries);
      yield* keep(this, vhost.queues.values(), queueSeries);
      yield* keep(this, vhost.connections, connectionSeries);
      for (const connection of vhost.connections) yield* keep(this, connection.channels, channelSeries);
    }
    this.#kept = kept;
  }

  /** When the window began over which rates are taken: five to ten seconds ago, or when sampling began. */
  get windowStart(): number {
    return this.#times[0];
  }

  history(item: object): History | undefined {
    return this.#histories.get(item);
  }

  /** @returns how many samples it has now */
  #keep<T extends object>(item: T, series: Series<T>, now: number, past: number): number {
    let history = this.#histories.get(item);
    if (history === undefined) this.#histories.set(item, (history = new History()));
    history.add(now, series.read(item));
    if (history.length > 1) history.trim(now, past);
    return history.length;
  }
}
