import { growingCounters } from '../counters-json.js';
import { rowOf } from '../../api/columns.js';
import { tableToJson } from '../../api/field-json.js';
import { queueOf } from '../../api/resources/queues.js';
import { bindingColumns, bindingsTo } from '../../api/views/binding-columns.js';
import { consumersOfQueue } from '../../api/views/consumer-columns.js';
import { channelName, userName } from '../../api/views/names.js';
import type { Consumer, Queue } from '../../../engine/broker/index.js';
import { joined, Rows } from '../../http/json.js';
import { ok } from '../../http/reply.js';
import type { Handler, Resource } from '../../http/resource.js';
import { onlyKnown } from '../input.js';
import { reasonsFor } from '../pause/pause-json.js';
import { deadLettersTo, edgesInto, sourceToJson } from './neighbours.js';
import { listQueues } from './queue-list.js';
import { deadLetterSign, queueRowColumns } from './queue-row.js';
import { settingsToJson } from './settings-json.js';

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
