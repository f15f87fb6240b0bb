import type { Queue } from '../../../engine/broker/index.js';
import type { DeadLetterGraph } from '../graph/dead-letter-graph.js';
import type { DeadLetterEdge } from '../graph/dead-letter-edges.js';
import { edgeToJson } from '../graph/topology-json.js';

/** Where the dead letters of a queue go; null if it drops them. */
export function deadLettersTo(queue: Queue, { edges }: DeadLetterGraph): object | null {
  const edge = edges.get(queue);
  if (edge === undefined) return null;
  const { vhost: _, queue: __, ...row } = edgeToJson(queue.home.name, edge);
  return { ...row, dangling: !edge.exchangeExists };
}

/** The edges that reach a queue. */
export const edgesInto = (queue: Queue, { edges }: DeadLetterGraph): readonly DeadLetterEdge[] =>
  [...edges.values()].filter(({ reaches }) => reaches.has(queue));

/** An edge as the queue sees it that gets the dead letters. A consumer may reject a message of any queue. */
export const sourceToJson = (queue: Queue, edge: DeadLetterEdge): object => ({
  queue: edge.queue.name,
  exchange: edge.exchange,
  routing_key: edge.routingKey ?? null,
  reasons: ['rejected', ...edge.automatic],
  certain: edge.reaches.get(queue) === 'always',
  delay: edge.delay ?? null,
});
