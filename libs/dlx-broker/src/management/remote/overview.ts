import { mostOfKind, stuckAlarm } from '../dlx/overview/alarms.js';
import { onlyKnown } from '../dlx/input.js';
import { ok } from '../http/reply.js';
import { type LiveQueue, numberAt } from './live-queue.js';
import { textAt } from './mirror.js';
import { vhostsIn } from './remote.js';
import { taskToJson } from './redrives/redrives-resource.js';
import type { RemoteHandler, RemoteResource } from './resource.js';

/** The number of queues that are named. */
const mostNamed = 5;

/**
 * The state of dead letters at a glance. RabbitMQ counts no deaths of a queue, so their rates are null.
 */
const show: RemoteHandler = async ({ caller, query }, { redrives, snapshots }) => {
  onlyKnown(query.keys(), ['vhost'], 'parameter');
  const snapshot = await snapshots.of(caller);
  const names = new Set(vhostsIn(snapshot, query).map(({ name }) => name));
  const queues = snapshot.queues.filter(({ queue }) => names.has(queue.home.name));
  const dead = queues.filter(({ isDeadLetterQueue }) => isDeadLetterQueue);
  const alarms = queues.flatMap(({ queue }) => {
    const graph = snapshot.graphs.get(queue.home.name);
    return (graph && stuckAlarm(queue, graph)) ?? [];
  });
  return ok({
    totals: {
      queues: queues.length,
      dead_letter_queues: dead.length,
      messages_ready: sum(queues, 'messages_ready'),
      messages_unacknowledged: sum(queues, 'messages_unacknowledged'),
      dead_letters: sum(dead, 'messages_ready'),
      unproven_queues: 0,
    },
    dead_letter_rates: null,
    rates_series: null,
    top: topOf(dead),
    redrives: redrives
      .list()
      .filter(({ order, endedAt }) => endedAt === undefined && names.has(order.vhost))
      .map(taskToJson),
    // What the engine here does not know may change the settings and the ways of dead letters that are shown.
    unknown: snapshot.mirror.unknown.slice(0, mostOfKind),
    more_unknown: Math.max(0, snapshot.mirror.unknown.length - mostOfKind),
    alarms: alarms.slice(0, mostOfKind),
    more_alarms: Math.max(0, alarms.length - mostOfKind),
  });
};

const sum = (queues: readonly LiveQueue[], column: string): number =>
  queues.reduce((all, { row }) => all + (numberAt(row, column) ?? 0), 0);

const lengthOf = ({ row }: LiveQueue): number => numberAt(row, 'messages_ready') ?? 0;

const topOf = (dead: readonly LiveQueue[]): readonly object[] =>
  dead
    .filter((queue) => lengthOf(queue) > 0)
    .sort((one, other) => lengthOf(other) - lengthOf(one))
    .slice(0, mostNamed)
    .map(({ row }) => ({
      vhost: textAt(row, 'vhost'),
      name: textAt(row, 'name'),
      messages_ready: numberAt(row, 'messages_ready'),
      oldest: null,
      dead_in_rate: null,
    }));

export const overview: readonly RemoteResource[] = [{ path: '/dlx/overview', GET: show }];
