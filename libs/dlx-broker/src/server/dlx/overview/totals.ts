import type { Queue } from '../../../engine/broker/index.js';
import type { Management } from '../../management.js';
import type { Measures } from '../../statistics/measures.js';
import { queueSeries } from '../../statistics/series.js';
import type { DeadLetterGraph } from '../graph/dead-letter-graph.js';
import type { SeesReason } from '../pause/pause-json.js';
import { deadLetterSign, oldestIn } from '../queues/queue-row.js';
import { type Alarm, growthAlarm, type Growth, growthOf, mostOfKind, pauseAlarm, stuckAlarm } from './alarms.js';

/** The number of queues that are named. */
const mostNamed = 5;

/** Sums over queues, and the queues that stand out. */
export class Totals {
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
