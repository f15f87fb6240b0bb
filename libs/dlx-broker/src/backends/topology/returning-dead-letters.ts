import { keysOfBindings, route } from './cycles.js';
import type { Topology } from './topology.js';
import { textOf } from './unreceived-dead-letters.js';

/** A queue whose dead letters its dead-letter exchange routes back to it. */
export interface ReturningDeadLetters {
  readonly queue: string;
  readonly exchange: string;
  /** The routing key of the dead letters; undefined: each keeps its own. */
  readonly routingKey: string | undefined;
}

/**
 * Finds the queues whose dead letters return to them at once: no queue with a time to live is between. The broker allows such a cycle
 * without an end, because a consumer rejects the message each time (rule I2). Dead letters that keep their routing key are judged by
 * the bindings of the queue, or by its name if it has none.
 */
export function returningDeadLetters(topology: Topology): readonly ReturningDeadLetters[] {
  return topology.queues.flatMap((queue) => {
    const exchange = textOf(queue.arguments.get('x-dead-letter-exchange'));
    if (exchange === undefined) return [];
    const routingKey = textOf(queue.arguments.get('x-dead-letter-routing-key'));
    const bound = keysOfBindings(queue, topology);
    const own = bound.length === 0 ? [queue.name] : bound;
    const keys = routingKey === undefined ? own : [routingKey];
    const returns = keys.some((key) => route(exchange, key, topology).has(queue.name));
    return returns ? [{ queue: queue.name, exchange, routingKey }] : [];
  });
}
