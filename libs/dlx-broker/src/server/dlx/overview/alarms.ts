import type { Queue } from '../../../engine/broker/index.js';
import { isOf } from '../../http/auth.js';
import type { ApiRequest } from '../../http/resource.js';
import type { Management } from '../../management.js';
import type { Measures } from '../../statistics/measures.js';
import { queueSeries } from '../../statistics/series.js';
import type { SeesReason } from '../pause.js';
import type { DeadLetterGraph } from '../graph/dead-letter-graph.js';

/** Something that an operator should look at. */
export interface Alarm {
  readonly kind: 'growing' | 'loop' | 'stuck_dlx' | 'memory' | 'disk' | 'stalled' | 'paused';
  readonly vhost: string | null;
  readonly queue: string | null;
  readonly text: string;
}

/** The most alarms of a kind in an answer. */
export const mostOfKind = 20;

/** How often the next message of a queue has died there, above which its loop is worth an alarm. */
const manyRounds = 100;

/** How many more messages than a minute ago make a dead-letter queue a growing one. */
const muchGrowth = 10;
const growthTime = 60_000;

const lengthIndex = queueSeries.names.indexOf('messages_ready');

const alarmOf = (kind: Alarm['kind'], { home, name }: Named, text: string): Alarm => ({
  kind,
  vhost: home.name,
  queue: name,
  text,
});

interface Named {
  readonly name: string;
  readonly home: { readonly name: string };
}

/** The alarms of the whole broker, and the queues that are stalled. @param seen names of the virtual hosts of the answer */
export function* brokerAlarms(
  { user }: ApiRequest,
  { host, broker }: Management,
  seen: ReadonlySet<string>,
): Iterable<Alarm> {
  const raised = host.alarms?.() ?? [];
  const whole = { vhost: null, queue: null };
  if (raised.includes('memory')) yield { kind: 'memory', ...whole, text: 'memory is short: publishers are blocked' };
  if (raised.includes('disk'))
    yield { kind: 'disk', ...whole, text: 'the disk is nearly full: publishers are blocked' };
  // The reason of a fault may name a file.
  for (const { name, reason } of isOf('monitor', user) ? (host.faults?.() ?? []) : []) {
    if (name === 'storage_failed') yield { kind: 'disk', ...whole, text: reason };
  }
  for (const { queue, reason } of broker.stalls) {
    if (seen.has(queue.home.name)) yield alarmOf('stalled', queue, `delivers nothing, and tries again: ${reason}`);
  }
}

/** The alarm of a queue whose dead letters do not arrive, if there is one. */
export function stuckAlarm(queue: Queue, { edges }: DeadLetterGraph): Alarm | undefined {
  const stranded = queue.deadLettering.retained?.stranded ?? 0;
  if (stranded > 0) {
    const seconds = queue.home.deadLetterRetryAfter / 1_000;
    const text = `${stranded} dead letters found no queue that takes them; they are tried again every ${seconds} s`;
    return alarmOf('stuck_dlx', queue, text);
  }
  const edge = edges.get(queue);
  if (edge === undefined || edge.exchangeExists) return undefined;
  const text = `its dead-letter exchange '${edge.exchange}' does not exist: messages that die here are dropped`;
  return alarmOf('stuck_dlx', queue, text);
}

/** The alarm of a queue whose deliveries an operator stopped. A pause may be forgotten. */
export function pauseAlarm(queue: Queue, seesReason: SeesReason): Alarm | undefined {
  const { state } = queue.pausing;
  if (state === undefined) return undefined;
  const { by, reason, since, until } = state;
  const from = `paused${by === undefined ? '' : ` by ${by}`} since ${shownTime(since)}`;
  const end = until === undefined ? 'until it is resumed' : `until ${shownTime(until)}`;
  const why = reason === '' || !seesReason(queue) ? '' : `: ${reason}`;
  return alarmOf('paused', queue, `${from}, ${end}; ${queue.length} messages wait${why}`);
}

const shownTime = (time: number): string => new Date(time).toISOString().replace('.000Z', 'Z');

/** A queue that has more messages than a minute ago. */
export interface Growth {
  readonly queue: Queue;
  readonly by: number;
}

/** The growth of a dead-letter queue that is worth an alarm. A queue with a time to live empties itself. */
export function growthOf(queue: Queue, { statistics }: Management, now: number): Growth | undefined {
  if (queue.settings.messageTtl !== undefined) return undefined;
  const before = statistics.history(queue)?.at(now - growthTime)?.[lengthIndex];
  if (before === undefined || queue.length - before < muchGrowth) return undefined;
  return { queue, by: queue.length - before };
}

export const growthAlarm = ({ queue, by }: Growth): Alarm =>
  alarmOf('growing', queue, `grew by ${by} messages in the last minute, to ${queue.length}`);

/** The alarms of loops: messages that went round very often, and loops without a wait in which messages die now. */
export function* loopAlarms({ loops }: DeadLetterGraph, measures: Measures): Generator<Alarm | undefined, void, void> {
  const looked = new Set<Queue>();
  for (const { edges, kind } of loops) {
    for (const { queue } of edges) {
      if (!looked.has(queue)) yield roundsAlarm(queue);
      looked.add(queue);
    }
    const isBusy = edges.every(({ queue }) => measures.rate(queue, queueSeries, 'dead_letters_out') > 0);
    const first = edges[0]?.queue;
    if (kind !== 'spin' || !isBusy || first === undefined) continue;
    const way = edges.map(({ queue }) => queue.name).join(' -> ');
    yield alarmOf('loop', first, `rejected messages go round without a wait: ${way} -> ${first.name}`);
  }
}

/** The rounds that the broker counted. A count that it only continued is a claim of the publisher, and so is one without a death here. */
function roundsAlarm(queue: Queue): Alarm | undefined {
  const deaths = queue.head?.deaths;
  if (deaths?.first === undefined) return undefined;
  const rounds = deaths.entries(undefined).reduce((most, { count }) => Math.max(most, count), 0);
  return rounds <= manyRounds ? undefined : alarmOf('loop', queue, `its next message has gone round ${rounds} times`);
}
