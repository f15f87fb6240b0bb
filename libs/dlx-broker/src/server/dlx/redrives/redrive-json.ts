import type { LeftAt } from '../../redrive/index.js';
import { overflowPolicies, type Queue } from '../../../engine/broker/index.js';

import type { GroupRedrive } from './group-redrive.js';
import type { QueueRedrive } from './queue-redrive.js';
import { type RedriveGroup, sharedNames } from './redrive-order.js';
import { filterToJson } from '../input.js';

/** The most rows of `destinations`, and of `left_at`, of a redrive of several groups. */
const mostRows = { destinations: 1_000, leftAt: 100 };

/**
 * A redrive as JSON; times are milliseconds since 1970. One of several groups has a list of them. Its virtual host and queue are null
 * unless all groups share them.
 */
export function redriveToJson(task: QueueRedrive): Record<string, unknown> {
  const { order, counts, groups } = task;
  const isOne = order.groups === undefined;
  const { vhost = null, queue = null } = sharedNames(order);
  return {
    id: task.id,
    vhost,
    queue,
    filter: isOne ? filterToJson(order.filter) : null,
    ids: isOne ? (order.ids?.length ?? null) : null,
    ...(!isOne && { groups: groups.map(progressToJson) }),
    to: order.to === undefined ? null : { exchange: order.to.exchange, routing_key: order.to.routingKey },
    rate: order.rate === Infinity ? 0 : order.rate,
    limit: order.limit ?? null,
    circuit: order.circuit === undefined ? null : { percent: order.circuit.percent, at_least: order.circuit.atLeast },
    keep_history: order.keepsHistory === true,
    dry_run: order.dryRun,
    state: task.state,
    reason: task.reason ?? null,
    by: order.by,
    started_at: task.startedAt,
    ended_at: task.endedAt ?? null,
    watched_until: task.watchedUntil ?? null,
    ready_at_start: task.readyAtStart,
    scanned: task.scanned,
    moved: counts.moved,
    left: counts.left,
    unproven_origin: counts.unproven,
    gone: counts.gone,
    returned: counts.returned,
    ...(isOne
      ? {
          destinations: [...counts.destinations].map(([name, count]) => ({ name, count })),
          other_destinations: counts.otherDestinations,
          left_at: counts.leftAt.map(leftToJson),
        }
      : resultsOf(groups)),
  };
}

/** What a group of a redrive is. */
export const groupToJson = ({ vhost, queue, filter, ids, limit }: RedriveGroup): object => ({
  vhost: vhost.name,
  queue: queue.name,
  filter: filterToJson(filter),
  ids: ids?.length ?? null,
  limit: limit ?? null,
});

const progressToJson = ({ group, counts, selection, readyAtStart }: GroupRedrive): object => ({
  ...groupToJson(group),
  ready_at_start: readyAtStart,
  scanned: selection.scanned,
  moved: counts.moved,
  left: counts.left,
  gone: counts.gone,
});

const leftToJson = ({ why, to, count, example }: LeftAt): object => ({
  why,
  exchange: to?.exchange ?? null,
  routing_key: to?.routingKey ?? null,
  count,
  example_id: String(example),
});

/** The destinations of all groups, added up by virtual host, and what they left. */
function resultsOf(groups: readonly GroupRedrive[]): object {
  const destinations = new Map<string, { readonly vhost: string; readonly name: string; count: number }>();
  let others = 0;
  for (const { group, counts } of groups) {
    const vhost = group.vhost.name;
    others += counts.otherDestinations;
    for (const [name, count] of counts.destinations) {
      const key = JSON.stringify([vhost, name]);
      const known = destinations.get(key);
      if (known !== undefined) known.count += count;
      else if (destinations.size < mostRows.destinations) destinations.set(key, { vhost, name, count });
      else others += count;
    }
  }
  const left = groups.flatMap(({ group, counts }) =>
    counts.leftAt.map((at) => ({ vhost: group.vhost.name, queue: group.queue.name, ...leftToJson(at) })),
  );
  return {
    destinations: [...destinations.values()],
    other_destinations: others,
    left_at: left.slice(0, mostRows.leftAt),
  };
}

/**
 * The destinations of a dry run that refuse publishes when they are full, and may be full before all messages have moved: consumers
 * empty them meanwhile, so a dry run does not count what they would refuse.
 */
export function refusingOf({ groups }: QueueRedrive): readonly object[] {
  const planned = new Map<Queue, number>();
  for (const { group, counts } of groups) {
    for (const [name, count] of counts.destinations) {
      const queue = group.vhost.queues.get(name);
      if (queue !== undefined) planned.set(queue, count + (planned.get(queue) ?? 0));
    }
  }
  const refusing: object[] = [];
  for (const [{ home, name, settings, length }, count] of planned) {
    const { overflow, maxLength, maxLengthBytes } = settings;
    if (!overflowPolicies[overflow].refuses) continue;
    if (maxLengthBytes === undefined && length + count <= (maxLength ?? Infinity)) continue;
    refusing.push({
      vhost: home.name,
      name,
      messages_ready: length,
      max_length: maxLength ?? null,
      max_length_bytes: maxLengthBytes ?? null,
    });
  }
  return refusing;
}
