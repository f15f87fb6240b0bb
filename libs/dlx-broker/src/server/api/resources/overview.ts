import { product, type User, versionOf, type VirtualHost } from '../../../engine/broker/index.js';
import { isOf } from '../../http/auth.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import { type Management, portsOf, withoutStatistics } from '../../management.js';
import { happened, type Measure, withDetails } from '../../statistics/measures.js';
import { churnSeries, deliveredNames, publishedNames, vhostSeries } from '../../statistics/series.js';
import { type Columns, oneOf } from '../lists.js';
import { exchangeTypeRows } from '../views/exchange-columns.js';

const lengths: readonly string[] = ['messages', 'messages_ready', 'messages_unacknowledged'];

/** For how many seconds RabbitMQ keeps samples. This broker keeps them as long. */
const retention = { global: [600, 3600], basic: [600, 3600], detailed: [600] };

const get: Handler = (request, management) => {
  const vhosts = management.vhostsOf(request.user);
  const columns = {
    ...about(request, management),
    ...(withoutStatistics(request) ? few : many)(request, vhosts, management),
  };
  return oneOf(request, undefined, columns);
};

function about({ query }: ApiRequest, { broker, clusterName }: Management): Columns<undefined> {
  const version = versionOf(broker);
  const facts = {
    management_version: version,
    rates_mode: 'basic',
    sample_retention_policies: retention,
    exchange_types: exchangeTypeRows,
    product_version: product.version,
    product_name: product.name,
    rabbitmq_version: version,
    cluster_name: clusterName,
    // Node.js is in the place of Erlang, under the keys that tools read.
    erlang_version: process.versions.node,
    erlang_full_version: `Node.js ${process.version} ${process.platform} ${process.arch}`,
    release_series_support_status: 'supported',
    disable_stats: query.get('disable_stats') === 'true',
    enable_queue_totals: query.get('enable_queue_totals') === 'true',
  };
  return Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, () => value]));
}

type Rest = (request: ApiRequest, vhosts: readonly VirtualHost[], management: Management) => Columns<undefined>;

const few: Rest = ({ user }, vhosts, { nodeName }) => ({
  node: () => nodeName,
  object_totals: () => {
    const { consumers: _, channels: __, connections, ...rest } = totals(vhosts, user);
    return whole(isOf('monitor', user) ? { ...rest, connections } : rest);
  },
});

const many: Rest = (request, vhosts, management) => {
  const { user } = request;
  const { broker, nodeName } = management;
  const measures = management.measures(request);
  const sums = (): Measure => measures.sum(vhosts, vhostSeries);
  const forAll: Columns<undefined> = {
    message_stats: () => whole(messageStats(sums())),
    churn_rates: () => whole(withDetails(measures.of(broker, churnSeries), churnSeries.names)),
    queue_totals: () => whole(totals(vhosts, user).queues === 0 ? {} : withDetails(sums(), lengths)),
    object_totals: () => whole(totals(vhosts, user)),
    statistics_db_event_queue: () => 0,
  };
  if (!isOf('monitor', user)) return forAll;
  return {
    ...forAll,
    node: () => nodeName,
    listeners: () => listeners(management),
    contexts: () => contexts(management).map((each) => ({ ssl_opts: [], node: management.nodeName, ...each })),
  };
};

/** RabbitMQ includes the reads and writes of its disk. Here they are 0, because nothing is paged out. */
function messageStats(measure: Measure): object {
  const stats = happened(measure, [publishedNames, deliveredNames]);
  if (stats === undefined) return {};
  const none = { rate: 0 };
  return { ...stats, disk_reads: 0, disk_reads_details: none, disk_writes: 0, disk_writes_details: none };
}

function totals(vhosts: readonly VirtualHost[], user: User): Record<string, number> {
  const sum = (count: (vhost: VirtualHost) => number): number => vhosts.reduce((all, vhost) => all + count(vhost), 0);
  const connections = vhosts.flatMap((vhost) => [...vhost.connections]);
  const own = isOf('monitor', user) ? connections : connections.filter((each) => each.user?.name === user.name);
  const channels = own.flatMap((connection) => [...connection.channels]);
  return {
    channels: channels.length,
    connections: own.length,
    ...(isOf('monitor', user) && {
      consumers: channels.reduce((all, { receiver }) => all + receiver.consumers.size, 0),
    }),
    exchanges: sum(({ exchanges }) => exchanges.size),
    queues: sum(({ queues }) => queues.size),
  };
}

const listeners = (management: Management): readonly object[] =>
  portsOf(management).map(({ protocol, host, port }) => ({
    node: management.nodeName,
    protocol,
    ip_address: host,
    port,
    socket_opts: protocol.startsWith('http') ? { port } : { backlog: 1024, nodelay: true },
  }));

/** The ports of the HTTP API. */
export const contexts = (management: Management): readonly object[] =>
  portsOf(management)
    .filter(({ protocol }) => protocol.startsWith('http'))
    .map(({ port }) => ({
      description: 'RabbitMQ Management',
      path: '/',
      cowboy_opts: '[]',
      port: String(port),
    }));

/** An object that the parameter `columns` shows whole or not at all, as RabbitMQ does. */
const whole = (row: object): object => Object.assign(Object.create(null) as object, row);

export const overview: readonly Resource[] = [{ path: '/overview', allows: 'management', GET: get }];
