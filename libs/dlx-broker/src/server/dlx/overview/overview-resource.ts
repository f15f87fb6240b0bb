import type { Queue, VirtualHost } from '../../../engine/broker/index.js';
import { deathReasons } from '../../../engine/message/index.js';
import { ok } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import type { Management } from '../../management.js';
import type { Measures } from '../../statistics/measures.js';
import { queueSeries, vhostSeries } from '../../statistics/series.js';
import { interval, type Statistics } from '../../statistics/statistics.js';
import type { DeadLetterGraph } from '../graph/dead-letter-graph.js';
import { onlyKnown } from '../input.js';
import { reasonsFor, type SeesReason } from '../pause.js';
import { deadLetterSign, oldestIn } from '../letter-facts.js';
import { redriveToJson } from '../redrives/redrive-json.js';
import { seenVhosts } from '../named.js';
import {
  type Alarm,
  brokerAlarms,
  type Growth,
  growthAlarm,
  growthOf,
  loopAlarms,
  mostOfKind,
  pauseAlarm,
  stuckAlarm,
} from './alarms.js';

/** The number of queues that are named. */
const mostNamed = 5;

/** Sums over queues, and the queues that stand out. */
class Totals {
  queues = 0;
  deadLetterQueues = 0;
  /** The queues that only headers of their next message call dead-letter queues. They are in no other count of dead letters. */
  unprovenQueues = 0;
  ready = 0;
  unacknowledged = 0;
  deadLetters = 0;
  /** The dead-letter queues with the most messages, most first. */
  readonly #top: Queue[] = [];
  readonly #growing: Growth[] = [];
  readonly #stuck: Alarm[] = [];
  readonly #paused: Alarm[] = [];
  #leftOut = 0;

  constructor(
    readonly management: Management,
    readonly now: number,
    readonly seesReason: SeesReason,
  ) {}

  /** Adds the queues of a virtual host. */
  add(graph: DeadLetterGraph): void {
    for (const queue of graph.queues) if (!queue.deleted) this.#addQueue(queue, graph);
  }

  #addQueue(queue: Queue, graph: DeadLetterGraph): void {
    this.queues++;
    this.ready += queue.length;
    this.unacknowledged += queue.unacked;
    this.#note(stuckAlarm(queue, graph), this.#stuck);
    this.#note(pauseAlarm(queue, this.seesReason), this.#paused);
    const sign = deadLetterSign(queue, graph);
    if (sign === 'claimed') this.unprovenQueues++;
    // A forged header must not count the messages of a work queue as dead letters.
    if (sign !== 'proven') return;
    this.deadLetterQueues++;
    this.deadLetters += queue.length;
    if (queue.length > 0) keepMost(this.#top, queue, ({ length }) => length, mostNamed);
    const growth = growthOf(queue, this.management, this.now);
    if (growth !== undefined && !keepMost(this.#growing, growth, ({ by }) => by, mostOfKind)) this.#leftOut++;
  }

  #note(alarm: Alarm | undefined, kept: Alarm[]): void {
    if (alarm === undefined) return;
    if (kept.length < mostOfKind) kept.push(alarm);
    else this.#leftOut++;
  }

  /** The alarms of the queues, and the number of further ones. */
  get alarms(): { readonly shown: readonly Alarm[]; readonly leftOut: number } {
    return { shown: [...this.#stuck, ...this.#paused, ...this.#growing.map(growthAlarm)], leftOut: this.#leftOut };
  }

  topToJson(measures: Measures): readonly object[] {
    return this.#top.map((queue) => ({
      vhost: queue.home.name,
      name: queue.name,
      messages_ready: queue.length,
      oldest: oldestIn(queue) ?? null,
      dead_in_rate: measures.rate(queue, queueSeries, 'dead_letters_in'),
    }));
  }

  toJSON(): object {
    return {
      queues: this.queues,
      dead_letter_queues: this.deadLetterQueues,
      unproven_queues: this.unprovenQueues,
      messages_ready: this.ready,
      messages_unacknowledged: this.unacknowledged,
      dead_letters: this.deadLetters,
    };
  }
}

/** Keeps the largest items in order, largest first. @returns false if one had to go */
function keepMost<T>(kept: T[], item: T, sizeOf: (item: T) => number, most: number): boolean {
  const smaller = kept.findIndex((other) => sizeOf(other) < sizeOf(item));
  kept.splice(smaller < 0 ? kept.length : smaller, 0, item);
  if (kept.length <= most) return true;
  kept.pop();
  return false;
}

/** The counters of a chart: deaths by reason, and redriven messages. */
const chartCounters = [...deathReasons, 'redriven'] as const;

/** The number of rates in a chart. */
const points = 60;

/** The present deaths per second, by reason. */
function deathRates(vhosts: readonly VirtualHost[], measures: Measures): Readonly<Record<string, number>> {
  const rateOf = (name: string): number =>
    vhosts.reduce((sum, vhost) => sum + measures.rate(vhost, vhostSeries, name), 0);
  return Object.fromEntries(deathReasons.map((name) => [name, rateOf(name)]));
}

/** Rates of the last five minutes, oldest first, and zeros before the first sample. */
function ratesSeries(vhosts: readonly VirtualHost[], statistics: Statistics): Readonly<Record<string, unknown>> {
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

/** The state of dead letters at a glance: of one virtual host, or of all that the user may see. */
const show: Handler = async (request, management) => {
  onlyKnown(request.query.keys(), ['vhost'], 'parameter');
  const { dlx, statistics } = management;
  const vhosts = seenVhosts(request, management);
  const measures = management.measures(request);
  const graphs: DeadLetterGraph[] = [];
  for (const vhost of vhosts) graphs.push(await dlx.graphs.of(vhost));
  const totals = new Totals(management, management.now(), reasonsFor(management.broker, request.user));
  for (const graph of graphs) totals.add(graph);
  const loops = alarmsOfLoops(graphs, measures);
  const { shown, leftOut } = alarmsOf(request, management, vhosts, totals, loops);
  return ok({
    totals: totals.toJSON(),
    dead_letter_rates: deathRates(vhosts, measures),
    rates_series: ratesSeries(vhosts, statistics),
    top: totals.topToJson(measures),
    redrives: dlx.redrives
      .list()
      .filter((task) => !task.isOver && task.isWithin(vhosts))
      .map(redriveToJson),
    alarms: shown,
    more_alarms: leftOut,
  });
};

/** The alarms of loops, with the number of those that are left out. */
function alarmsOfLoops(graphs: readonly DeadLetterGraph[], measures: Measures): Alarms {
  const shown: Alarm[] = [];
  let leftOut = 0;
  for (const graph of graphs) {
    for (const alarm of loopAlarms(graph, measures)) {
      if (alarm !== undefined && shown.length < mostOfKind) shown.push(alarm);
      else if (alarm !== undefined) leftOut++;
    }
  }
  return { shown, leftOut };
}

interface Alarms {
  readonly shown: readonly Alarm[];
  /** The number of further alarms. */
  readonly leftOut: number;
}

/** All alarms: those of the broker first. */
function alarmsOf(
  request: ApiRequest,
  management: Management,
  vhosts: readonly VirtualHost[],
  { alarms }: Totals,
  loops: Alarms,
): Alarms {
  const seen = new Set(vhosts.map(({ name }) => name));
  const whole = [...brokerAlarms(request, management, seen)];
  const first = whole.slice(0, mostOfKind);
  return {
    shown: [...first, ...loops.shown, ...alarms.shown],
    leftOut: whole.length - first.length + loops.leftOut + alarms.leftOut,
  };
}

export const overview: readonly Resource[] = [{ path: '/dlx/overview', allows: 'management', GET: show }];
