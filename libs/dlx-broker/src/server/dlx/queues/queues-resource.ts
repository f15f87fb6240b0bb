import type { Consumer, Queue } from '../../../engine/broker/index.js';
import { tableToJson } from '../../api/field-json.js';
import { rowOf } from '../../api/lists.js';
import { queueOf } from '../../api/resources/queues.js';
import { bindingColumns, bindingsTo } from '../../api/views/binding-columns.js';
import { channelName, consumersOfQueue, userName } from '../../api/views/client-columns.js';
import { joined, Rows } from '../../http/json.js';
import { ok } from '../../http/reply.js';
import type { Handler, Resource } from '../../http/resource.js';
import { growingCounters } from '../counters-json.js';
import type { DeadLetterEdge } from '../graph/dead-letter-edges.js';
import type { DeadLetterGraph } from '../graph/dead-letter-graph.js';
import { edgeToJson } from '../graph/topology-json.js';
import { onlyKnown } from '../input.js';
import { reasonsFor } from '../pause/pause-json.js';
import { listQueues } from './queue-list.js';
import { deadLetterSign } from '../letter-facts.js';
import { queueRowColumns } from './queue-row.js';
import { settingsToJson } from './settings-json.js';

/** Where the dead letters of a queue go; null if it drops them. */
function deadLettersTo(queue: Queue, { edges }: DeadLetterGraph): object | null {
  const edge = edges.get(queue);
  if (edge === undefined) return null;
  const { vhost: _, queue: __, ...row } = edgeToJson(queue.home.name, edge);
  return { ...row, dangling: !edge.exchangeExists };
}

/** The edges that reach a queue. */
const edgesInto = (queue: Queue, { edges }: DeadLetterGraph): readonly DeadLetterEdge[] =>
  [...edges.values()].filter(({ reaches }) => reaches.has(queue));

/** An edge as the queue sees it that gets the dead letters. A consumer may reject a message of any queue. */
const sourceToJson = (queue: Queue, edge: DeadLetterEdge): object => ({
  queue: edge.queue.name,
  exchange: edge.exchange,
  routing_key: edge.routingKey ?? null,
  reasons: ['rejected', ...edge.automatic],
  certain: edge.reaches.get(queue) === 'always',
  delay: edge.delay ?? null,
});

/** One queue: its row, its settings and their sources, where its dead letters go, and where those in it come from. */
const showQueue: Handler = async (request, management) => {
  onlyKnown(request.query.keys(), [], 'parameter');
  const queue = queueOf(request, management);
  const { dlx } = management;
  const vhost = management.vhost(queue.home.name);
  const graph = await dlx.graphs.of(vhost);
  const signOf = (each: Queue) => deadLetterSign(each, graph);
  const columns = queueRowColumns(
    management.nodeName,
    management.measures(request),
    signOf,
    reasonsFor(management.broker, request.user),
  );
  return ok({
    ...rowOf(queue, columns),
    arguments: tableToJson(queue.declared.arguments),
    counters: countersOf(queue),
    settings: settingsToJson(queue),
    dead_letters_to: deadLettersTo(queue, graph),
    dead_letters_from: new Rows(edgesInto(queue, graph), (edge) => sourceToJson(queue, edge)),
    bindings: new Rows(joined(bindingsTo(vhost, queue)), (binding) => rowOf(binding, bindingColumns)),
    consumers_list: new Rows(consumersOfQueue(vhost, queue), consumerToJson),
  });
};

/** What happened in the queue since it was declared, or since the start of the broker. */
const countersOf = (queue: Queue): object => Object.fromEntries(growingCounters.map(([name, of]) => [name, of(queue)]));

const consumerToJson = ({ tag, noAck, prefetch, receiver: { channel } }: Consumer): object => ({
  consumer_tag: tag,
  channel: channelName(channel),
  user: userName(channel.connection),
  ack_required: !noAck,
  prefetch_count: prefetch.limit,
});

export const queues: readonly Resource[] = [
  { path: '/dlx/queues', allows: 'management', GET: listQueues },
  { path: '/dlx/queues/:vhost/:name', allows: 'management', GET: showQueue },
];
