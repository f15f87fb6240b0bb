import type { Exchange, Queue } from '../../../engine/broker/index.js';
import { Rows } from '../../http/json.js';
import { typedTable } from '../typed-field.js';
import type { DeadLetterEdge } from './dead-letter-edges.js';
import type { Loop } from './loops.js';
import type { TopologyPart } from './topology-part.js';
import type { IndexedBinding } from './binding-index.js';

/**
 * A topology as JSON. Every row has its virtual host, because those of several are shown together. A row is made when it is
 * written, and shows the state of that moment.
 */
export function topologyToJson(part: TopologyPart): TopologyJson {
  const { vhost, exchanges, queues, bindings, edges, loops, dangling } = part.topology;
  return {
    complete: part.complete,
    total_queues: part.queues,
    exchanges: new Rows(exchanges, (exchange) => exchangeToJson(vhost, exchange)),
    queues: new Rows(queues, (queue) => queueToJson(vhost, queue)),
    bindings: new Rows(bindings, (binding) => bindingToJson(vhost, binding)),
    dead_letter_edges: new Rows(edges, (edge) => edgeToJson(vhost, edge)),
    loops: new Rows(loops, (loop) => loopToJson(vhost, loop)),
    dangling: new Rows(dangling, ({ kind, of, exchange }) => ({ vhost, kind, of, exchange })),
  };
}

export interface TopologyJson {
  /** False if queues were left out. */
  readonly complete: boolean;
  /** The number of all queues. */
  readonly total_queues: number;
  readonly exchanges: Iterable<unknown>;
  readonly queues: Iterable<unknown>;
  readonly bindings: Iterable<unknown>;
  readonly dead_letter_edges: Iterable<unknown>;
  readonly loops: Iterable<unknown>;
  readonly dangling: Iterable<unknown>;
}

const exchangeToJson = (vhost: string, { name, declared, alternate, policy }: Exchange): Record<string, unknown> => ({
  vhost,
  name,
  type: declared.type,
  durable: declared.durable,
  internal: declared.internal,
  alternate_exchange: alternate ?? null,
  policy: policy ?? null,
});

const queueToJson = (vhost: string, queue: Queue): Record<string, unknown> => ({
  vhost,
  name: queue.name,
  type: queue.declared.type,
  durable: queue.declared.durable,
  policy: queue.inForce.policy?.name ?? null,
  operator_policy: queue.inForce.operatorPolicy?.name ?? null,
  messages_ready: queue.length,
  messages_unacknowledged: queue.unacked,
  consumers: queue.consumers.count,
  message_ttl: queue.settings.messageTtl ?? null,
  dead_letters_in: queue.counters.deadLettersIn,
});

const bindingToJson = (
  vhost: string,
  { exchange, destination, bindingKey, arguments: args }: IndexedBinding,
): unknown => ({
  vhost,
  source: exchange.name,
  destination: destination.name,
  destination_type: 'consumers' in destination ? 'queue' : 'exchange',
  routing_key: bindingKey,
  arguments: typedTable(args),
});

export const edgeToJson = (vhost: string, edge: DeadLetterEdge): Record<string, unknown> => ({
  vhost,
  queue: edge.queue.name,
  exchange: edge.exchange,
  routing_key: edge.routingKey ?? null,
  by: edge.by,
  policy: edge.by === 'policy' ? (edge.queue.inForce.policy?.name ?? null) : null,
  strategy: edge.queue.settings.deadLetterStrategy,
  exchange_exists: edge.exchangeExists,
  reaches: [...edge.reaches].map(([queue, certainty]) => ({ queue: queue.name, certain: certainty === 'always' })),
  automatic: edge.automatic,
  delay: edge.delay ?? null,
});

const loopToJson = (vhost: string, { edges, certain, delay, kind }: Loop): Record<string, unknown> => ({
  vhost,
  queues: edges.map(({ queue }) => queue.name),
  exchanges: edges.map(({ exchange }) => exchange),
  kind,
  cut_by_rule_i2: kind === 'dropped',
  certain,
  delay,
});
