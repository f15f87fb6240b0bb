import { booleanIn } from '../../http/body.js';
import { badRequest, noContent, notFound, put } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import { type Management, placesOf, withoutStatistics } from '../../management.js';
import { type Columns, listOf, oneOf } from '../lists.js';
import {
  declaredExchangeColumns,
  exchangeColumns,
  type PlacedExchange,
  singleExchangeColumns,
} from '../views/exchange-columns.js';
import { argumentsIn, checkNode } from './queues.js';

const getAll: Handler = (request, management) => {
  const items = placesOf(request, management).flatMap(({ exchanges, name }) =>
    [...exchanges.values()].map((exchange) => ({ exchange, vhost: name })),
  );
  const columns: Columns<PlacedExchange> = withoutStatistics(request)
    ? declaredExchangeColumns
    : exchangeColumns(management.measures(request));
  return listOf(request, management, items, columns);
};

const getOne: Handler = (request, management) =>
  oneOf(request, exchangeOf(request, management), singleExchangeColumns(management.measures(request)));

const putOne: Handler = async (request, management) => {
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

const deleteOne: Handler = (request, management) => {
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
  { path: '/exchanges', allows: 'management', GET: getAll },
  { path: '/exchanges/:vhost', allows: 'management', GET: getAll },
  { path: '/exchanges/:vhost/:name', allows: 'management', GET: getOne, PUT: putOne, DELETE: deleteOne },
];
