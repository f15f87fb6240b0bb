import type { QueueRedrive } from './redrives/queue-redrive.js';
import { filterToJson } from './input.js';

/** A redrive as JSON; times are milliseconds since 1970. */
export function redriveToJson(task: QueueRedrive): Record<string, unknown> {
  const { order, tally } = task;
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
    moved: tally.moved,
    left: tally.left,
    unproven_origin: tally.unproven,
    gone: tally.gone,
    came_back: tally.cameBack,
    destinations: [...tally.destinations].map(([name, count]) => ({ name, count })),
    other_destinations: tally.otherDestinations,
    left_at: tally.leftAt.map(({ why, to, count, example }) => ({
      why,
      exchange: to?.exchange ?? null,
      routing_key: to?.routingKey ?? null,
      count,
      example_id: String(example),
    })),
  };
}
