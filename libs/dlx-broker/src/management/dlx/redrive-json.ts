import type { QueueRedrive } from './redrives/queue-redrive.js';
import { filterToJson } from './input.js';

/** A redrive as JSON; times are milliseconds since 1970. */
export function redriveToJson(task: QueueRedrive): Record<string, unknown> {
  const { order, counts } = task;
  return {
    id: task.id,
    vhost: order.vhost.name,
    queue: order.queue.name,
    filter: filterToJson(order.filter),
    ids: order.ids === undefined ? null : order.ids.length,
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
    came_back: counts.cameBack,
    destinations: [...counts.destinations].map(([name, count]) => ({ name, count })),
    other_destinations: counts.otherDestinations,
    left_at: counts.leftAt.map(({ why, to, count, example }) => ({
      why,
      exchange: to?.exchange ?? null,
      routing_key: to?.routingKey ?? null,
      count,
      example_id: String(example),
    })),
  };
}
