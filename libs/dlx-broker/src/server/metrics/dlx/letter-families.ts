import { type Queue, type QueueCounters } from '../../../engine/broker/index.js';
import { oldestIn } from '../../index.js';
import { labelled, type Metric, type Series } from '../family.js';
import type { Scrape } from '../scrape.js';

const queueLabels = ['vhost', 'queue'];

const reasons: readonly (readonly [name: string, read: (counters: QueueCounters) => number])[] = [
  ['rejected', ({ rejected }) => rejected],
  ['expired', ({ expired }) => expired],
  ['maxlen', ({ maxlen }) => maxlen],
  ['delivery_limit', ({ deliveryLimit }) => deliveryLimit],
];

type Read = (queue: Queue, scrape: Scrape) => number;

const ofLetters = (name: string, type: 'counter' | 'gauge', help: string, read: Read): Metric<Scrape> =>
  labelled(name, type, queueLabels, help, function* (scrape): Generator<Series, void, void> {
    for (const queue of scrape.deadLetterQueues.shown) {
      yield { labels: [queue.home.name, queue.name], value: read(queue, scrape) };
    }
  });

/** Seconds for which the oldest dead letter of a queue is dead; 0 without one, and for a death that is dated in the future. */
const ageOf: Read = (queue, { now }) => Math.max(0, now - (oldestIn(queue) ?? now)) / 1000;

const byVhost = (name: string, help: string, read: (of: { readonly lost: number }) => number): Metric<Scrape> =>
  labelled(name, 'counter', ['vhost'], help, ({ graphs }) =>
    [...graphs.keys()].map((vhost) => ({ labels: [vhost.name], value: read(vhost.counters) })),
  );

/** What this broker says about dead letters beyond RabbitMQ. */
export const letterFamilies: readonly Metric<Scrape>[] = [
  labelled(
    'dlx_dead_letters_total',
    'counter',
    [...queueLabels, 'reason'],
    'Messages that died in a queue, by reason. Queues with a dead-letter exchange have every reason',
    function* ({ dyingQueues }): Generator<Series, void, void> {
      for (const { home, name, counters } of dyingQueues.shown) {
        for (const [reason, read] of reasons) yield { labels: [home.name, name, reason], value: read(counters) };
      }
    },
  ),
  ofLetters(
    'dlx_dead_letter_messages',
    'gauge',
    'Messages in a queue of dead letters',
    ({ length, unacked }) => length + unacked,
  ),
  ofLetters('dlx_dead_letter_oldest_age_seconds', 'gauge', 'How long the oldest dead letter of a queue is dead', ageOf),
  ofLetters(
    'dlx_redriven_total',
    'counter',
    'Messages that operators moved out of a queue',
    ({ counters }) => counters.redriven,
  ),
  ofLetters('dlx_discarded_total', 'counter', 'Messages that operators deleted', ({ counters }) => counters.discarded),
  labelled('dlx_queue_paused', 'gauge', queueLabels, '1 for a queue whose deliveries are stopped', ({ pausedQueues }) =>
    pausedQueues.shown.map(({ home, name }) => ({ labels: [home.name, name], value: 1 })),
  ),
  byVhost('dlx_lost_messages_total', 'Messages lost to a damaged disk', ({ lost }) => lost),
  labelled(
    'dlx_metrics_left_out',
    'gauge',
    ['kind'],
    'Queues that this page leaves out, because it has a thousand of them; /metrics/per-object has all',
    ({ dyingQueues, deadLetterQueues, pausedQueues }) => [
      { labels: ['dying'], value: dyingQueues.leftOut },
      { labels: ['dead_letters'], value: deadLetterQueues.leftOut },
      { labels: ['paused'], value: pausedQueues.leftOut },
    ],
  ),
];
