import type { Queue } from '../../engine/broker/index.js';
import { deathReasons } from '../../engine/message/index.js';
import { oldestIn } from '../index.js';
import { type Family, labelled, type Metric, type Series } from './family.js';
import type { Scrape } from './meter.js';
import type { HandlerNumbers, MeteredHandlers } from './source.js';

const queueLabels = ['vhost', 'queue'];

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
        for (const reason of deathReasons) yield { labels: [home.name, name, reason], value: counters[reason] };
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

/** What is measured while metrics are on, and the journal. */
export const processFamilies: readonly Metric<Scrape>[] = [
  labelled(
    'dlx_event_loop_lag_seconds',
    'gauge',
    ['quantile'],
    'How late the event loop was, since it was last asked',
    ({ loopDelay }) =>
      loopDelay === undefined
        ? []
        : [
            { labels: ['0.5'], value: loopDelay.median },
            { labels: ['0.99'], value: loopDelay.p99 },
            { labels: ['max'], value: loopDelay.max },
          ],
  ),
  labelled(
    'dlx_journal_fsync_duration_seconds',
    'histogram',
    [],
    'How long a batch of the journal took until the disk had it',
    ({ of: { journal } }) => (journal?.syncs === undefined ? [] : [{ labels: [], value: journal.syncs }]),
  ),
  labelled('dlx_journal_bytes', 'gauge', [], 'Bytes of the journal on disk', ({ of: { journal } }) =>
    journal === undefined ? [] : [{ labels: [], value: journal.bytes }],
  ),
];

type All = readonly MeteredHandlers[];

const labels = ['broker', 'handler', 'queue'];

const outcomes = ['retried', 'parked', 'redriven'] as const;

/** The states of a connection to a broker. */
const states = ['connecting', 'ready', 'blocked', 'reconnecting', 'closed'];

const perHandler = (
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: (of: HandlerNumbers) => number,
): Metric<All> =>
  labelled(name, type, labels, help, function* (all): Generator<Series, void, void> {
    for (const { broker, handlers } of all)
      for (const each of handlers) yield { labels: [broker, each.handler, each.queue], value: read(each) };
  });

/** The handlers of an application, on the broker of the process or on a RabbitMQ. */
export const handlerFamilies: readonly Metric<All>[] = [
  perHandler('dlx_handler_attempts_total', 'counter', 'Runs of a handler', ({ attempts }) => attempts),
  perHandler('dlx_handler_retries_total', 'counter', 'Messages that are tried again later', ({ retried }) => retried),
  perHandler('dlx_handler_parked_total', 'counter', 'Messages parked after their last attempt', ({ parked }) => parked),
  perHandler(
    'dlx_handler_rejected_total',
    'counter',
    'Messages that their queue dead-letters',
    ({ rejected }) => rejected,
  ),
  perHandler('dlx_handler_dropped_total', 'counter', 'Messages that a handler dropped', ({ dropped }) => dropped),
  perHandler(
    'dlx_handler_held_total',
    'counter',
    'Messages that come again as the same attempt, because a service was away',
    ({ held }) => held,
  ),
  perHandler('dlx_handlers_in_flight', 'gauge', 'Runs that have not ended', ({ inFlight }) => inFlight),
  labelled(
    'dlx_handler_duration_seconds',
    'histogram',
    [...labels, 'outcome'],
    'How long a run of a handler took',
    function* (all): Generator<Series, void, void> {
      for (const { broker, handlers } of all) {
        for (const { handler, queue, succeeded, failed } of handlers) {
          yield { labels: [broker, handler, queue, 'success'], value: succeeded };
          yield { labels: [broker, handler, queue, 'failure'], value: failed };
        }
      }
    },
  ),
  labelled(
    'dlx_letters_total',
    'counter',
    ['broker', 'outcome'],
    'Dead letters that streams and redrives of the application retried, parked or redrove',
    (all) =>
      all.flatMap(({ broker, letters }) =>
        outcomes.map((outcome) => ({ labels: [broker, outcome], value: letters[outcome] })),
      ),
  ),
  labelled('dlx_client_unroutable_total', 'counter', ['broker'], 'Events that no queue got', (all) =>
    all.map(({ broker, unroutable }) => ({ labels: [broker], value: unroutable })),
  ),
  labelled(
    'dlx_backend_state',
    'gauge',
    ['broker', 'state'],
    '1 for the present state of the connection to a broker',
    (all) =>
      all.flatMap(({ broker, state }) =>
        states.map((each) => ({ labels: [broker, each], value: each === state ? 1 : 0 })),
      ),
  ),
];

/** The metrics that brokers of an application add: those of one name are one family. */
export function addedFamilies(all: All): readonly Metric<All>[] {
  const families = new Map<string, Family>(all.flatMap(({ added }) => added.map((metric) => [metric.name, metric])));
  return [...families.values()].map(({ name, type, labels, help }) =>
    labelled(name, type, labels, help, function* (brokers): Generator<Series, void, void> {
      for (const { added } of brokers) for (const metric of added) if (metric.name === name) yield* metric.read();
    }),
  );
}
