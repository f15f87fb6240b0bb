import type { Topology } from '../../../console/src/api/topology';
import { edgeId, exchangeId, type Graph, graphOf, type GraphNode, queueId } from '../../../console/src/drawing/graph';
import { type Box, lineOf } from '../../../console/src/drawing/layout';
import type { QueueState, State } from '../world/state';

/** Sizes of queues and consumers in pixels. */
export const card = { width: 176, head: 46, row: 22, foot: 6 } as const;

/** Lines for messages: a queue has as many whether it is empty or full, so that nothing moves. */
export const rowsOf = (kind: GraphNode['kind']): number => (kind === 'consumer' ? 1 : 3);

export const consumerId = (name: string): string => `c:${name}`;

/** What is drawn of a state: everything that exists, also what no edge touches. */
export function pictureOf(state: State): Graph {
  const graph = graphOf(shapeOf(state), { bindings: true, dead: true, alternate: true });
  const present = new Set(graph.nodes.map(({ id }) => id));
  const node = (id: string, kind: GraphNode['kind'], name: string, type = ''): GraphNode => ({ id, kind, name, type });
  const queues = new Set(state.queues.map(({ name }) => name));
  const consumers = state.consumers.filter(({ queue, held }) => held.length > 0 || queues.has(queue ?? ''));
  return {
    lonely: [],
    nodes: [
      ...graph.nodes,
      ...state.exchanges.map(({ name, type }) => node(exchangeId(name), 'exchange', name, type)),
      ...state.queues.map(({ name }) => node(queueId(name), 'queue', name)),
      ...consumers.map(({ name }) => node(consumerId(name), 'consumer', name)),
    ].filter(({ id }, at) => at < graph.nodes.length || !present.has(id)),
    edges: [
      ...graph.edges,
      ...consumers
        .map(({ name, queue, held }) => ({ name, queue: queue ?? held[0]?.queue ?? '' }))
        .filter(({ queue }) => queues.has(queue))
        .map(({ name, queue }) => ({
          id: edgeId('binding', queueId(queue), consumerId(name)),
          from: queueId(queue),
          to: consumerId(name),
          kind: 'binding' as const,
          label: '',
          loop: undefined,
          certain: true,
        })),
    ],
  };
}

/** The room of a node. */
export function boxOf(node: GraphNode): Box {
  if (node.kind !== 'queue' && node.kind !== 'consumer') return lineOf(node);
  return {
    width: Math.max(card.width, lineOf(node).width),
    height: card.head + rowsOf(node.kind) * card.row + card.foot,
  };
}

const vhost = '/';

/** A state in the form that the console draws. */
function shapeOf({ exchanges, queues, bindings, consumers }: State): Topology {
  const known = new Set(exchanges.map(({ name }) => name));
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const isConsumed = new Set(consumers.map(({ queue }) => queue));
  return {
    exchanges: exchanges.map(({ name, type, arguments: table }) => ({
      vhost,
      name,
      type,
      alternate_exchange: text(table?.['alternate-exchange']),
    })),
    queues: queues.map(({ name, type, length, unacked }) => ({
      vhost,
      name,
      type,
      messages_ready: length,
      messages_unacknowledged: unacked,
      consumers: isConsumed.has(name) ? 1 : 0,
      dead_letters_in: 0,
    })),
    bindings: bindings.map(({ source, destination, destination_type, routing_key, arguments: table }) => ({
      vhost,
      source,
      destination,
      destination_type: destination_type === 'exchange' ? 'exchange' : 'queue',
      routing_key: (routing_key ?? '') === '' && table !== undefined ? headersOf(table) : (routing_key ?? ''),
    })),
    dead_letter_edges: queues.flatMap((queue) => {
      const { name, deadLetterExchange: exchange, deadLetterRoutingKey: key } = queue;
      if (exchange === undefined) return [];
      const isDirect = exchange === '' && queues.some((other) => other.name === key);
      return {
        vhost,
        queue: name,
        exchange,
        routing_key: key ?? null,
        exchange_exists: known.has(exchange),
        reaches: isDirect ? [{ queue: key ?? '', certain: true }] : [],
        automatic: automaticOf(queue),
        delay: queue.messageTtl ?? null,
      };
    }),
    loops: [],
    dangling: [],
  };
}

const headersOf = (table: Readonly<Record<string, unknown>>): string =>
  Object.entries(table)
    .filter(([name]) => name !== 'x-match')
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ');

function automaticOf({ messageTtl, maxLength, deliveryLimit }: QueueState): readonly string[] {
  return [
    ...(messageTtl === undefined ? [] : ['expired']),
    ...(maxLength === undefined ? [] : ['maxlen']),
    ...(deliveryLimit === undefined ? [] : ['delivery_limit']),
  ];
}
