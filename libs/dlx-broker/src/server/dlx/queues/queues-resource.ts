import type { Consumer, Queue } from '../../../engine/broker/index.js';
import { tableToJson } from '../../api/field-json.js';
import { type Columns, cut, nameFilter, type Page, pageIn, rowOf, sorted } from '../../api/lists.js';
import { queueOf } from '../../api/resources/objects.js';
import { bindingColumns, bindingsTo } from '../../api/views/binding-columns.js';
import { channelName, consumersOfQueue, userName } from '../../api/views/client-columns.js';
import { joined, Rows } from '../../http/json.js';
import { badRequest, ok } from '../../http/reply.js';
import type { Handler, Resource } from '../../http/resource.js';
import type { Management } from '../../management.js';
import { queueSeries } from '../../statistics/series.js';
import type { Statistics } from '../../statistics/statistics.js';
import type { DeadLetterGraph } from '../graph/dead-letter-graph.js';
import type { DeadLetterEdge } from '../graph/loops.js';
import { edgeToJson } from '../graph/topology.js';
import { onlyKnown, wordIn } from '../input.js';
import { deadLetterSign, type DeadLetterSign } from '../letter-facts.js';
import { growingCounters } from '../live-changes.js';
import { seenVhosts } from '../named.js';
import { queueRowColumns, settingsToJson } from './queue-row.js';

const lengthIndex = queueSeries.names.indexOf('messages_ready');

/** One sample of this many is shown: the list has a small chart for each queue. */
const step = 2;

/** The number of values, for five minutes. */
const points = 31;

/**
 * The numbers of ready messages of a queue in the last five minutes, oldest first, one for each ten seconds. Null before the queue was
 * there, or the port was open.
 */
function lengthsOf(statistics: Statistics): (queue: Queue) => readonly (number | null)[] {
  const { recentTimes } = statistics;
  const times = recentTimes.filter((_, index) => (recentTimes.length - 1 - index) % step === 0);
  const before = new Array<null>(Math.max(0, points - times.length)).fill(null);
  return (queue) => {
    const history = statistics.history(queue);
    return [...before, ...times.slice(-points).map((time) => history?.at(time)?.[lengthIndex] ?? null)];
  };
}

const parameters = ['vhost', 'name', 'dead', 'sort', 'sort_reverse', 'page', 'page_size', 'lengths'];

/** The order of the queues of a list. */
interface Order {
  /** Undefined: by virtual host and name. */
  readonly column: string | undefined;
  readonly isReverse: boolean;
}

/** A page of the queues that the user may see. Sorting and filtering read counters, and no message but the first of a queue. */
const listQueues: Handler = async (request, management) => {
  const { query } = request;
  const { dlx, host } = management;
  const graphs = new Map<unknown, DeadLetterGraph>();
  const signOf = (queue: Queue): DeadLetterSign | undefined => {
    const graph = graphs.get(queue.home);
    return graph && deadLetterSign(queue, graph);
  };
  const columns = queueRowColumns(request, management, signOf);
  const { page, onlyDead, order, withLengths } = queueListIn(query, columns);
  for (const vhost of seenVhosts(request, management)) graphs.set(vhost, await dlx.graphs.of(vhost));
  const all = [...graphs.values()].flatMap(({ queues }) => queues).filter(({ deleted }) => !deleted);
  const fits = page.name === undefined ? undefined : nameFilter(page, host.patterns, all.length);
  const found = all.filter((queue) => (!onlyDead || signOf(queue) !== undefined) && (fits?.(queue.name) ?? true));
  const more = withLengths ? lengthColumn(management) : undefined;
  return ok(
    cut(arrange(found, columns, order), page, all.length, (queue) => ({ ...rowOf(queue, columns), ...more?.(queue) })),
  );
};

function lengthColumn({ statistics }: Management): (queue: Queue) => object {
  const lengths = lengthsOf(statistics);
  return (queue) => ({ lengths: lengths(queue) });
}

/** The parts of a list of queues that a request asks for. */
interface QueueList {
  readonly page: Page;
  readonly onlyDead: boolean;
  readonly order: Order;
  /** True: each row has the lengths of the last minutes. */
  readonly withLengths: boolean;
}

/**
 * Reads the filters, the order and the page of a list.
 * @throws Problem 400
 */
function queueListIn(query: URLSearchParams, columns: Columns<never>): QueueList {
  onlyKnown(query.keys(), parameters, 'parameter');
  const page = pageOf(query);
  const onlyDead = wordIn(query, 'dead', ['true', 'false'], 'false') === 'true';
  const isReverse = wordIn(query, 'sort_reverse', ['true', 'false'], 'false') === 'true';
  const withLengths = wordIn(query, 'lengths', ['true', 'false'], 'false') === 'true';
  return { page, onlyDead, withLengths, order: { column: sortIn(query, columns), isReverse } };
}

/** @throws Problem 400 */
function pageOf(query: URLSearchParams): Page {
  const asked = new URLSearchParams(query);
  if (!asked.has('page')) asked.set('page', '1');
  return pageIn(asked) as Page;
}

/** @throws Problem 400 for a column by which no list is sorted */
function sortIn(query: URLSearchParams, columns: Columns<never>): string | undefined {
  const column = query.get('sort');
  if (column === null || column === '') return undefined;
  const known = Object.keys(columns).filter((name) => name !== 'features' && name !== 'paused');
  if (known.includes(column)) return column;
  throw badRequest(`'sort' should be one of ${known.join(', ')}: '${column}'`);
}

/** Sorts queues that are sorted by virtual host and name, which is also the order of equal rows. */
function arrange(found: Queue[], columns: Columns<Queue>, { column, isReverse }: Order): readonly Queue[] {
  if (column === undefined) return isReverse ? found.reverse() : found;
  const none = isReverse ? -Infinity : Infinity; // rows without a value are last
  return sorted(found, (queue) => [columns[column]?.(queue) ?? none], isReverse);
}

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
  const columns = queueRowColumns(request, management, signOf);
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
