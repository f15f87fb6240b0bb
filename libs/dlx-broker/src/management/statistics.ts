import type { MemoryUse } from '../alarms/index.js';
import type { Broker } from '../broker/index.js';
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
 * Samples of what the broker counts, taken at a steady interval while somebody may ask. A number in an answer is always
 * the one of this moment; the samples are for its rate and its past.
 */
export class Statistics {
  readonly machine: Machine;
  readonly #broker: Broker;
  readonly #now: () => number;
  readonly #histories = new WeakMap<object, History>();
  #times: [beforeLast: number, last: number];
  #kept = 0;

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

  /** Takes a sample of everything; to be called every {@link interval} milliseconds. */
  sample(): void {
    const now = this.#now();
    this.#times = [this.#times[1], now];
    const past = this.#kept > budget ? shortPast : longestPast;
    this.#kept = 0;
    const keep = <T extends object>(items: Iterable<T>, series: Series<T>): void => {
      for (const item of items) this.#keep(item, series, now, past);
    };
    keep([this.#broker], churnSeries);
    keep([this.machine], machineSeries);
    for (const vhost of this.#broker.virtualHosts.values()) {
      keep([vhost], vhostSeries);
      keep(vhost.exchanges.values(), exchangeSeries);
      keep(vhost.queues.values(), queueSeries);
      keep(vhost.connections, connectionSeries);
      for (const connection of vhost.connections) keep(connection.channels, channelSeries);
    }
  }

  /** When the window began over which rates are taken: five to ten seconds ago, or when sampling began. */
  get windowStart(): number {
    return this.#times[0];
  }

  history(item: object): History | undefined {
    return this.#histories.get(item);
  }

  #keep<T extends object>(item: T, series: Series<T>, now: number, past: number): void {
    let history = this.#histories.get(item);
    if (history === undefined) this.#histories.set(item, (history = new History()));
    history.add(now, series.read(item));
    if (history.length > 1) history.trim(now, past);
    this.#kept += history.length;
  }
}
