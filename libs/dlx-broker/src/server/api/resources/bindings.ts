import { type Answer, badRequest, created, noContent, notFound } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import { type Management, placesOf } from '../../management.js';
import { listOf, oneOf, withoutPages } from '../lists.js';
import {
  bindingColumns,
  bindingOrder,
  type Bindings,
  bindingsBetween,
  bindingsFrom,
  bindingsOf,
  bindingsTo,
  type PlacedBinding,
  propertiesKey,
} from '../views/binding-columns.js';
import { argumentsIn, exchangeIn } from './objects.js';

/** Answers with all bindings of some lists. RabbitMQ does not cut bindings into pages. */
const show = (request: ApiRequest, management: Management, lists: readonly Bindings[]): Answer =>
  listOf(
    withoutPages(request),
    management,
    lists.flatMap((bindings) => [...bindings]),
    bindingColumns,
    bindingOrder,
  );

const getAll: Handler = (request, management) =>
  show(request, management, placesOf(request, management).flatMap(bindingsOf));

const fromExchange: Handler = (request, management) => {
  const vhost = management.vhost(request.names['vhost'] ?? '');
  const source = vhost.exchanges.get(exchangeIn(request.names['name']));
  return show(request, management, source === undefined ? [] : [bindingsFrom(vhost, source)]);
};

const toDestination =
  (kind: 'queue' | 'exchange'): Handler =>
  (request, management) => {
    const vhost = management.vhost(request.names['vhost'] ?? '');
    const { name = '' } = request.names;
    const destination = kind === 'queue' ? vhost.queues.get(name) : vhost.exchanges.get(exchangeIn(name));
    return show(request, management, destination === undefined ? [] : bindingsTo(vhost, destination));
  };

/** The bindings between two objects of a path; `q` or `e` is the kind of the destination. */
function between({ names }: ApiRequest, management: Management): Bindings {
  const { vhost = '', destination = '' } = names;
  const place = management.vhost(vhost);
  const source = exchangeIn(names['source']);
  const found = isQueue(names) ? place.queues.get(destination) : place.exchanges.get(exchangeIn(destination));
  const from = place.exchanges.get(source);
  return found === undefined || from === undefined ? [] : bindingsBetween(place, from, found);
}

/** @throws Problem 404 for any other letter */
function isQueue({ kind }: ApiRequest['names']): boolean {
  if (kind !== 'q' && kind !== 'e') throw notFound();
  return kind === 'q';
}

const getBetween: Handler = (request, management) => show(request, management, [between(request, management)]);

const post: Handler = async (request, management) => {
  const { names, user } = request;
  const { vhost = '', destination = '' } = names;
  const source = exchangeIn(names['source']);
  const body = await request.body();
  const key = body['routing_key'] ?? '';
  if (typeof key !== 'string') throw badRequest(['not_string', 'routing_key']);
  const args = argumentsIn(body);
  management.as(user, vhost, (channel) => {
    if (isQueue(names)) channel.bindQueue(destination, source, key, args);
    else channel.bindExchange(exchangeIn(destination), source, key, args);
  });
  // The location is relative to the path of the request.
  return created({ location: [destination, propertiesKey(key, args)].map(encodeURIComponent).join('/') });
};

const getOne: Handler = (request, management) => oneOf(request, bindingOf(request, management), bindingColumns);

const deleteOne: Handler = (request, management) => {
  const { source, destination, bindingKey, args, kind, vhost } = bindingOf(request, management);
  management.as(request.user, vhost, (channel) => {
    if (kind === 'queue') channel.unbindQueue(destination, source, bindingKey, args);
    else channel.unbindExchange(destination, source, bindingKey, args);
  });
  return noContent;
};

/** @throws Problem 404 */
function bindingOf(request: ApiRequest, management: Management): PlacedBinding {
  const asked = plainKey(request.names['props'] ?? '');
  for (const binding of between(request, management)) {
    if (plainKey(propertiesKey(binding.bindingKey, binding.args)) === asked) return binding;
  }
  throw notFound();
}

/** A properties key with its routing key decoded, because clients may encode `a.*` as `a.%2A` or not. */
function plainKey(propsKey: string): string {
  const [key = '', ...rest] = propsKey.split('~');
  const bytes = Buffer.from(key.replaceAll('+', ' ')).toString('latin1');
  const plain = bytes.replaceAll(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16)));
  return [Buffer.from(plain, 'latin1').toString(), ...rest.filter((part) => part !== '')].join('~');
}

export const bindings: readonly Resource[] = [
  { path: '/bindings', allows: 'management', GET: getAll },
  { path: '/bindings/:vhost', allows: 'management', GET: getAll },
  { path: '/bindings/:vhost/e/:source/:kind/:destination', allows: 'management', GET: getBetween, POST: post },
  {
    path: '/bindings/:vhost/e/:source/:kind/:destination/:props',
    allows: 'management',
    GET: getOne,
    DELETE: deleteOne,
  },
  { path: '/exchanges/:vhost/:name/bindings/source', allows: 'management', GET: fromExchange },
  { path: '/exchanges/:vhost/:name/bindings/destination', allows: 'management', GET: toDestination('exchange') },
  { path: '/queues/:vhost/:name/bindings', allows: 'management', GET: toDestination('queue') },
];
