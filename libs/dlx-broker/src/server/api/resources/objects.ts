import type { Queue } from '../../../engine/broker/index.js';
import { isShortstr, maxShortstrBytes, textLength } from '../../../engine/message/index.js';
import { reasonsFor } from '../../dlx/pause.js';
import { booleanIn, type JsonObject } from '../../http/body.js';
import { badRequest, noContent, notFound, put } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import { type Management, placesOf, withoutStatistics } from '../../management.js';
import { tableOfJson } from '../field-json.js';
import { type Columns, listOf, oneOf } from '../lists.js';
import {
  declaredExchangeColumns,
  exchangeColumns,
  type PlacedExchange,
  singleExchangeColumns,
} from '../views/exchange-columns.js';
import { declaredQueueColumns, queueColumns, singleQueueColumns } from '../views/queue-columns.js';

const getAll: Handler = (request, management) => {
  const queues = placesOf(request, management).flatMap((vhost) => [...vhost.queues.values()]);
  return listOf(request, management, queues, columnsFor(request, management));
};

const getOne: Handler = (request, management) => {
  const queue = queueOf(request, management);
  if (withoutStatistics(request)) return oneOf(request, queue, columnsFor(request, management));
  return oneOf(
    request,
    queue,
    singleQueueColumns(management.nodeName, management.measures(request), reasonsFor(management.broker, request.user)),
  );
};

const putOne: Handler = async (request, management) => {
  const { names, user } = request;
  const { vhost = '', name = '' } = names;
  if (!isShortstr(name)) {
    throw badRequest(`queue should be less than ${maxShortstrBytes} bytes, actually was ${textLength(name)}\n`);
  }
  const existed = management.vhost(vhost).queues.has(name);
  const body = await request.body();
  checkNode(body, management);
  const declared = {
    durable: booleanIn(body, 'durable'),
    autoDelete: booleanIn(body, 'auto_delete'),
    arguments: argumentsIn(body),
  };
  management.as(user, vhost, (channel) => channel.declareQueue(name, declared));
  return put(existed ? 'changed' : 'created');
};

const deleteOne: Handler = (request, management) => {
  const queue = queueOf(request, management);
  const { query, user } = request;
  const conditions = { ifUnused: query.get('if-unused') === 'true', ifEmpty: query.get('if-empty') === 'true' };
  management.as(user, queue.home.name, (channel) => channel.deleteQueue(queue.name, conditions));
  return noContent;
};

const purge: Handler = async (request, management) => {
  const queue = queueOf(request, management);
  const { name } = queue.home;
  management.as(request.user, name, (channel) => channel.purgeQueue(queue.name));
  await new Promise<void>((resolve) => management.vhost(name).scheduler.whenCleared(resolve));
  return noContent;
};

/** Accepts RabbitMQ's actions on mirrors. They have no effect, because this broker has no mirrors. */
const act: Handler = async (request, management) => {
  const { action } = await request.body('action');
  queueOf(request, management);
  if (action !== 'sync' && action !== 'cancel_sync') throw badRequest(['unknown', action]);
  return noContent;
};

/** @throws Problem 404 */
export function queueOf({ names }: ApiRequest, management: Management): Queue {
  const queue = management.vhost(names['vhost'] ?? '').queues.get(names['queue'] ?? names['name'] ?? '');
  if (queue === undefined) throw notFound();
  return queue;
}

/**
 * The `arguments` of a body as a field table. As in RabbitMQ, an empty list is an empty table.
 * @throws FieldJsonError
 */
export function argumentsIn(body: JsonObject): ReturnType<typeof tableOfJson> {
  const value = body['arguments'] ?? {};
  if (typeof value !== 'object' || (Array.isArray(value) && value.length > 0)) throw badRequest(['not_table', value]);
  return tableOfJson(Array.isArray(value) ? {} : (value as object));
}

/**
 * Checks the node that rabbitmqadmin may name.
 * @throws Problem 400 for another node
 */
export function checkNode({ node }: JsonObject, { nodeName }: Management): void {
  if (node !== undefined && node !== null && node !== nodeName) {
    throw badRequest(`Node ${String(node)} could not be contacted`);
  }
}

function columnsFor(request: ApiRequest, management: Management): Columns<Queue> {
  const { nodeName } = management;
  if (!withoutStatistics(request)) {
    return queueColumns(nodeName, management.measures(request), reasonsFor(management.broker, request.user));
  }
  const columns = {
    ...declaredQueueColumns(nodeName),
    node: ({ declared }: Queue) => (declared.type === 'quorum' ? undefined : nodeName),
    policy: ({ inForce }: Queue) => inForce.policy?.name,
  };
  if (request.query.get('enable_queue_totals') === 'true') return { ...columns, ...totals };
  return { ...columns, state: () => 'live' };
}

const totals: Columns<Queue> = {
  messages: ({ length, unacked, retained, delayed }) => length + unacked + retained + delayed,
  messages_ready: ({ length }) => length,
  messages_unacknowledged: ({ unacked }) => unacked,
};

export const queues: readonly Resource[] = [
  { path: '/queues', allows: 'management', GET: getAll },
  { path: '/queues/:vhost', allows: 'management', GET: getAll },
  { path: '/queues/:vhost/:name', allows: 'management', GET: getOne, PUT: putOne, DELETE: deleteOne },
  { path: '/queues/:vhost/:name/contents', allows: 'management', DELETE: purge },
  { path: '/queues/:vhost/:name/actions', allows: 'administrator', POST: act },
];

const listExchanges: Handler = (request, management) => {
  const items = placesOf(request, management).flatMap(({ exchanges, name }) =>
    [...exchanges.values()].map((exchange) => ({ exchange, vhost: name })),
  );
  const columns: Columns<PlacedExchange> = withoutStatistics(request)
    ? declaredExchangeColumns
    : exchangeColumns(management.measures(request));
  return listOf(request, management, items, columns);
};

const getExchange: Handler = (request, management) =>
  oneOf(request, exchangeOf(request, management), singleExchangeColumns(management.measures(request)));

const putExchange: Handler = async (request, management) => {
  const { vhost = '' } = request.names;
  const name = exchangeName(request);
  const existed = management.vhost(vhost).exchanges.has(name);
  const body = await request.body();
  checkNode(body, management);
  const type = body['type'] ?? 'direct';
  if (typeof type !== 'string') throw badRequest(['not_string', 'type']);
  const declared = {
    type,
    durable: booleanIn(body, 'durable'),
    autoDelete: booleanIn(body, 'auto_delete'),
    internal: booleanIn(body, 'internal'),
    arguments: argumentsIn(body),
  };
  management.as(request.user, vhost, (channel) => channel.declareExchange(name, declared));
  return put(existed ? 'changed' : 'created');
};

const deleteExchange: Handler = (request, management) => {
  const { exchange, vhost } = exchangeOf(request, management);
  const ifUnused = request.query.get('if-unused') === 'true';
  management.as(request.user, vhost, (channel) => channel.deleteExchange(exchange.name, { ifUnused }));
  return noContent;
};

/** The name of an exchange in a path: `amq.default` is the default exchange, whose name is empty. */
export const exchangeIn = (name: string | undefined): string => (name === 'amq.default' ? '' : (name ?? ''));

const exchangeName = ({ names }: ApiRequest): string => exchangeIn(names['name']);

/** @throws Problem 404 */
function exchangeOf(request: ApiRequest, management: Management): PlacedExchange {
  const vhost = management.vhost(request.names['vhost'] ?? '');
  const exchange = vhost.exchanges.get(exchangeName(request));
  if (exchange === undefined) throw notFound();
  return { exchange, vhost: vhost.name };
}

export const exchanges: readonly Resource[] = [
  { path: '/exchanges', allows: 'management', GET: listExchanges },
  { path: '/exchanges/:vhost', allows: 'management', GET: listExchanges },
  { path: '/exchanges/:vhost/:name', allows: 'management', GET: getExchange, PUT: putExchange, DELETE: deleteExchange },
];
