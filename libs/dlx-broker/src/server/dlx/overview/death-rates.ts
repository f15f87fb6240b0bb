import type { VirtualHost } from '../../../engine/broker/index.js';
import type { Measures } from '../../statistics/measures.js';
import { vhostSeries } from '../../statistics/series.js';
import { interval, type Statistics } from '../../statistics/statistics.js';

/** The reasons of death, by their names as counters of a virtual host. */
const deathCounters = ['rejected', 'expired', 'maxlen', 'delivery_limit'] as const;

/** The counters of a chart: deaths by reason, and redriven messages. */
const chartCounters = [...deathCounters, 'redriven'] as const;

/** The number of rates in a chart. */
const points = 60;

/** The present deaths per second, by reason. */
export function deathRates(vhosts: readonly VirtualHost[], measures: Measures): Readonly<Record<string, number>> {
  const rateOf = (name: string): number =>
    vhosts.reduce((sum, vhost) => sum + measures.rate(vhost, vhostSeries, name), 0);
  return Object.fromEntries(deathCounters.map((name) => [name, rateOf(name)]));
}

/** Rates of the last five minutes, oldest first, and zeros before the first sample. */
export function ratesSeries(vhosts: readonly VirtualHost[], statistics: Statistics): Readonly<Record<string, unknown>> {
  const times = statistics.recentTimes;
  const sums = times.map(() => chartCounters.map(() => 0));
  const indexes = chartCounters.map((name) => vhostSeries.names.indexOf(name));
  for (const vhost of vhosts) {
    const history = statistics.history(vhost);
    for (const [at, time] of times.entries()) {
      const counts = history?.atOrFirst(time);
      for (const [index, of] of indexes.entries()) sums[at]![index]! += counts?.[of] ?? 0;
    }
  }
  const rates = (index: number): readonly number[] => {
    const all = times.slice(1).map((time, at) => {
      const seconds = (time - (times[at] as number)) / 1000;
      const change = (sums[at + 1]?.[index] ?? 0) - (sums[at]?.[index] ?? 0);
      return seconds > 0 ? Math.round((change / seconds) * 1000) / 1000 : 0;
    });
    return [...new Array<number>(Math.max(0, points - all.length)).fill(0), ...all];
  };
  return {
    interval_ms: interval,
    ...Object.fromEntries(chartCounters.map((name, index) => [name, rates(index)])),
  };
}
