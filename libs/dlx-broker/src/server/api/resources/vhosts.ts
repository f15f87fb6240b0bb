import type { Broker, Permissions, VirtualHost, VirtualHostMetadata } from '../../../engine/broker/index.js';
import { booleanIn, type JsonObject } from '../../http/body.js';
import { badRequest, noContent, notFound, put } from '../../http/reply.js';
import type { Handler, Resource } from '../../http/resource.js';
import type { Management } from '../../management.js';
import { happened, type Measures } from '../../statistics/measures.js';
import { deliveredNames, publishedNames, vhostSeries } from '../../statistics/series.js';
import { type Columns, listOf, oneOf } from '../lists.js';

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

const columnsFor = ({ nodeName }: Management, measures: Measures): Columns<VirtualHost> => ({
  cluster_state: () => ({ [nodeName]: 'running' }),
  default_queue_type: () => 'undefined',
  description: ({ metadata }) => metadata.description,
  metadata: ({ metadata: { description, tags } }) => ({ description, tags }),
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
 * Refuses `stream` as the default queue type, because this broker has no streams. Other default queue types are
 * ignored, as by RabbitMQ 3.10.8 over HTTP. Newer versions of RabbitMQ write the type into `metadata`.
 * @throws Problem 400
 */
export function refuseStreams({ default_queue_type: asked, metadata }: JsonObject): void {
  const inner = typeof metadata === 'object' && metadata !== null ? (metadata as JsonObject) : {};
  if ([asked, inner['default_queue_type'], inner['default-queue-type']].includes('stream')) {
    throw badRequest("unsupported queue type 'stream'");
  }
}

/**
 * The metadata of a virtual host, for requests and for definitions.
 * @throws Problem 400
 */
export function metadataIn({ description = '', tags = '' }: JsonObject): VirtualHostMetadata {
  if (typeof description !== 'string') throw badRequest('description should be a string');
  if (Array.isArray(tags)) return { description, tags: tags.map(String) };
  if (typeof tags !== 'string') throw badRequest('tags should be a string or a list of strings');
  return { description, tags: tags === '' ? [] : tags.split(',').map((tag) => tag.trim()) };
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
