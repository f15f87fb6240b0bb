import {
  type Broker,
  erlangJson,
  isUserLimit,
  type LimitName,
  limitNames,
  type Permissions,
  type User,
  type VirtualHost,
  type VirtualHostMetadata,
} from '../../../engine/broker/index.js';
import { userLimitsIn } from '../../definitions/user-json.js';
import { booleanIn, type JsonObject } from '../../http/body.js';
import { badRequest, noContent, notFound, type Problem, put } from '../../http/reply.js';
import type { Handler, Resource } from '../../http/resource.js';
import type { Management } from '../../management.js';
import { happened, type Measures } from '../../statistics/measures.js';
import { deliveredNames, publishedNames, vhostSeries } from '../../statistics/series.js';
import { type Columns, listOf, oneOf, type Row, wholeList } from '../lists.js';

const withRates = ['messages', 'messages_ready', 'messages_unacknowledged', 'recv_oct', 'send_oct'];

/** The columns of a virtual host with statistics: sums over its queues and its clients. */
function vhostStatistics(measures: Measures): Columns<VirtualHost> {
  const columns: Record<string, (vhost: VirtualHost) => unknown> = {
    message_stats: (vhost) => happened(measures.of(vhost, vhostSeries), [publishedNames, deliveredNames]),
  };
  for (const name of withRates) {
    columns[name] = (vhost) => measures.of(vhost, vhostSeries).value(name);
    columns[`${name}_details`] = (vhost) => measures.of(vhost, vhostSeries).details(name);
  }
  return columns;
}

/** RabbitMQ 3.10 ignores the type over HTTP. */
const defaultTypeOf = ({ profile, metadata }: VirtualHost): string =>
  profile.defaultQueueTypes ? (metadata.defaultQueueType ?? 'classic') : 'undefined';

const columnsFor = ({ nodeName }: Management, measures: Measures): Columns<VirtualHost> => ({
  cluster_state: () => ({ [nodeName]: 'running' }),
  default_queue_type: defaultTypeOf,
  description: ({ metadata }) => metadata.description,
  metadata: (vhost) => {
    const { description, tags } = vhost.metadata;
    const type = defaultTypeOf(vhost);
    return type === 'undefined' ? { description, tags } : { description, tags, default_queue_type: type };
  },
  name: ({ name }) => name,
  tags: ({ metadata }) => metadata.tags,
  tracing: () => false,
  ...vhostStatistics(measures),
});

const getAll: Handler = (request, management) =>
  listOf(request, management, management.vhostsOf(request.user), columnsFor(management, management.measures(request)), [
    'name',
  ]);

const getOne: Handler = (request, management) =>
  oneOf(request, management.vhost(request.name('vhost')), columnsFor(management, management.measures(request)));

const noTracing =
  "tracing is not supported: this broker publishes no copies to 'amq.rabbitmq.trace'; bind a queue of your own to the exchange";

const putOne: Handler = async ({ name, body, user }, { broker }) => {
  const json = await body();
  if (booleanIn(json, 'tracing')) throw badRequest(noTracing);
  refuseStreams(json);
  return put(addVhost(broker, name('vhost'), metadataIn(json), user.name));
};

const everything: Permissions = { configure: '.*', write: '.*', read: '.*' };

/**
 * Adds a virtual host, for requests and for definitions.
 * @param maker gets all permissions in it
 */
export function addVhost(
  broker: Broker,
  name: string,
  metadata: VirtualHostMetadata | undefined,
  maker: string | undefined,
): 'created' | 'changed' {
  const existed = broker.virtualHosts.has(name);
  broker.addVirtualHost(name, metadata);
  if (existed) return 'changed';
  if (maker !== undefined) broker.access.setPermissions(maker, name, everything);
  return 'created';
}

/**
 * Refuses `stream` as the default queue type, because this broker has no streams.
 * @throws Problem 400
 */
export function refuseStreams(json: JsonObject): void {
  if (askedType(json) === 'stream') throw badRequest("unsupported queue type 'stream'");
}

/**
 * The metadata of a virtual host, for requests and for definitions.
 * @throws Problem 400
 */
export function metadataIn(json: JsonObject): VirtualHostMetadata {
  const { description = '', tags = '' } = json;
  if (typeof description !== 'string') throw badRequest('description should be a string');
  const type = askedType(json);
  const more = type === 'classic' || type === 'quorum' ? ({ defaultQueueType: type } as const) : undefined;
  if (Array.isArray(tags)) return { description, tags: tags.map(String), ...more };
  if (typeof tags !== 'string') throw badRequest('tags should be a string or a list of strings');
  return { description, tags: tags === '' ? [] : tags.split(',').map((tag) => tag.trim()), ...more };
}

/** The default queue type in a request or in definitions. Newer versions of RabbitMQ write it into `metadata`. */
export function askedType({ default_queue_type: asked, metadata }: JsonObject): unknown {
  const inner = typeof metadata === 'object' && metadata !== null ? (metadata as JsonObject) : {};
  return asked ?? inner['default_queue_type'] ?? inner['default-queue-type'];
}

const deleteOne: Handler = ({ name }, { broker }) => {
  if (!broker.virtualHosts.has(name('vhost'))) throw notFound();
  broker.removeVirtualHost(name('vhost'));
  return noContent;
};

/** RabbitMQ restarts a virtual host that failed on a node. Here every virtual host runs. */
const start: Handler = ({ name }, { nodeName }) => {
  if (name('node') === nodeName) return noContent;
  throw badRequest(`Request to node ${name('node')} failed with nodedown`);
};

export const vhosts: readonly Resource[] = [
  { path: '/vhosts', allows: 'management', GET: getAll },
  {
    path: '/vhosts/:vhost',
    allows: 'administrator',
    anyVhost: true,
    GET: getOne,
    PUT: putOne,
    DELETE: deleteOne,
  },
  { path: '/vhosts/:vhost/start/:node', allows: 'administrator', POST: start },
];

export const limitsOf = (vhost: VirtualHost): Row => Object.fromEntries(vhost.limits.list());

const rowsOf = (vhosts: readonly VirtualHost[]): readonly Row[] =>
  vhosts.filter(({ limits }) => limits.list().size > 0).map((vhost) => ({ vhost: vhost.name, value: limitsOf(vhost) }));

const isLimit = (name: string): name is LimitName => (limitNames as readonly string[]).includes(name);

/**
 * Sets limits: all of them, or none if one is invalid.
 * @param refusal makes an error of RabbitMQ's text
 * @throws Problem
 */
export function setLimits(vhost: VirtualHost, limits: JsonObject, refusal: (reason: string) => Problem): void {
  for (const [name, value] of Object.entries(limits)) {
    const wrong = isLimit(name)
      ? `${name} should be a number, actually was ${erlangJson(value)}`
      : `Unrecognised terms [{${erlangJson(name)},${erlangJson(value)}}] in limits`;
    if (!isLimit(name) || !Number.isSafeInteger(value)) throw refusal(`Validation failed\n\n${wrong}\n`);
  }
  for (const [name, value] of Object.entries(limits)) vhost.limits.set(name as LimitName, value as number);
}

/** @returns false if there were no limits */
export function clearLimits({ limits }: VirtualHost): boolean {
  return limitNames.map((name) => limits.delete(name)).includes(true);
}

const putLimit: Handler = async ({ name, body }, management) => {
  const { value } = await body('value');
  setLimits(management.vhost(name('vhost')), { [name('name')]: value }, badRequest);
  return noContent;
};

const deleteLimit: Handler = ({ name }, management) => {
  const limit = name('name');
  if (isLimit(limit)) management.vhost(name('vhost')).limits.delete(limit);
  return noContent;
};

export const vhostLimits: readonly Resource[] = [
  {
    path: '/vhost-limits',
    allows: 'management',
    GET: (request, management) => wholeList(request, management, rowsOf(management.vhostsOf(request.user)), ['vhost']),
  },
  {
    path: '/vhost-limits/:vhost',
    allows: 'management',
    visibleVhost: true,
    GET: (request, management) =>
      wholeList(request, management, rowsOf([management.vhost(request.name('vhost'))]), ['vhost']),
  },
  {
    path: '/vhost-limits/:vhost/:name',
    allows: 'administrator',
    accepts: ['application/json'],
    PUT: putLimit,
    DELETE: deleteLimit,
  },
];

const userRowsOf = (users: readonly User[]): readonly Row[] =>
  users.flatMap(({ name, limits }) => (limits === undefined ? [] : [{ user: name, value: limits }]));

const noUser = (name: string): Problem => badRequest(['no_such_user', name]);

const getLimitsOfUsers: Handler = (request, management) =>
  wholeList(request, management, userRowsOf(management.broker.access.users()), ['user']);

const getOfUser: Handler = (request, management) => {
  const user = management.broker.access.user(request.name('user'));
  if (user === undefined) throw notFound();
  return wholeList(request, management, userRowsOf([user]), ['user']);
};

const putOfUser: Handler = async ({ name, body }, { broker }) => {
  const { value } = await body('value');
  const limits = userLimitsIn({ [name('name')]: value });
  if (!broker.access.setUserLimits(name('user'), limits)) throw noUser(name('user'));
  return noContent;
};

/** Deletes one limit, or with `all` each of them. An unknown limit is no error. */
const deleteOfUser: Handler = ({ name }, { broker }) => {
  const [user, limit] = [name('user'), name('name')];
  if (broker.access.user(user) === undefined) throw noUser(user);
  if (limit === 'all') broker.access.clearUserLimits(user);
  else if (isUserLimit(limit)) broker.access.clearUserLimits(user, limit);
  return noContent;
};

export const userLimits: readonly Resource[] = [
  { path: '/user-limits', allows: 'management', GET: getLimitsOfUsers },
  { path: '/user-limits/:user', allows: 'management', GET: getOfUser },
  {
    path: '/user-limits/:user/:name',
    allows: 'administrator',
    accepts: ['application/json'],
    PUT: putOfUser,
    DELETE: deleteOfUser,
  },
];
