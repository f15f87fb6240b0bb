/*
 * Which metrics RabbitMQ's dashboard "RabbitMQ-Overview" asks for, and how it joins them. These are facts about the interface of 3.10.8 and of the
 * dashboard of August 2026; the queries are put together here.
 */

/** A version of the dashboard. */
export interface Dashboard {
  readonly version: string;
  readonly queries: readonly { readonly panel: string; readonly query: string }[];
}

/** The variables of the dashboard that stand for names of the cluster. */
const variables = 'rabbitmq_cluster="$rabbitmq_cluster", namespace="$namespace"';

/** Each metric is joined to the cluster, or to a node of it. */
interface Joins {
  readonly cluster: (metric: string) => string;
  readonly node: (metric: string) => string;
}

const joinsBy = (on: string, identity: string): Joins => ({
  cluster: (metric) => `${metric} * on(${on}) group_left(rabbitmq_cluster) ${identity}`,
  node: (metric) => `${metric} * on(${on}) group_left(rabbitmq_cluster, rabbitmq_node) ${identity}`,
});

const global = (name: string): string => `rabbitmq_global_messages_${name}_total`;

const sumOf = (text: string): string => `sum(${text})`;
const byNode = (text: string): string => `sum(${text}) by(rabbitmq_node)`;

/** The panels that show a rate for each node, and their metrics. Both versions have them. */
const rates: readonly (readonly [panel: string, metric: string])[] = [
  ['Messages published / s', global('received')],
  ['Messages confirmed to publishers / s', global('confirmed')],
  ['Messages routed to queues / s', global('routed')],
  ['Unroutable messages dropped / s', global('unroutable_dropped')],
  ['Unroutable messages returned to publishers / s', global('unroutable_returned')],
  ['Messages redelivered / s', global('redelivered')],
  ['Messages delivered with manual ack / s', global('delivered_consume_manual_ack')],
  ['Messages delivered auto ack / s', global('delivered_consume_auto_ack')],
  ['Messages acknowledged / s', global('acknowledged')],
  ['Polling operations with auto ack / s', global('delivered_get_auto_ack')],
  ['Polling operations that yield no result / s', global('get_empty')],
  ['Polling operations with manual ack / s', global('delivered_get_manual_ack')],
  ['Queues declared / s', 'rabbitmq_queues_declared_total'],
  ['Queues created / s', 'rabbitmq_queues_created_total'],
  ['Queues deleted / s', 'rabbitmq_queues_deleted_total'],
  ['Channels opened / s', 'rabbitmq_channels_opened_total'],
  ['Channels closed / s', 'rabbitmq_channels_closed_total'],
  ['Connections opened / s', 'rabbitmq_connections_opened_total'],
  ['Connections closed / s', 'rabbitmq_connections_closed_total'],
];

function common({ cluster, node }: Joins, range: string): Dashboard['queries'] {
  const rate = (metric: string): string => node(`rate(${metric}[${range}])`);
  return [
    ['Ready messages', sumOf(cluster('rabbitmq_queue_messages_ready'))],
    ['Unacknowledged messages', sumOf(cluster('rabbitmq_queue_messages_unacked'))],
    ['Connections', sumOf(cluster('rabbitmq_connections'))],
    ['Queues', sumOf(cluster('rabbitmq_queues'))],
    ['Channels', sumOf(cluster('rabbitmq_channels'))],
    ['Messages ready to be delivered to consumers', byNode(node('rabbitmq_queue_messages_ready'))],
    ['Messages pending consumer acknowledgement', byNode(node('rabbitmq_queue_messages_unacked'))],
    ['Total queues', node('rabbitmq_queues')],
    ['Total channels', node('rabbitmq_channels')],
    ['Total connections', node('rabbitmq_connections')],
    [
      'Memory available before publishers blocked',
      `(${node('rabbitmq_resident_memory_limit_bytes')}) - (${node('rabbitmq_process_resident_memory_bytes')})`,
    ],
    [
      'Messages unconfirmed to publishers / s',
      byNode(`${rate(global('received_confirm'))} - ${rate(global('confirmed'))}`),
    ],
    [
      'Messages delivered / s',
      byNode(`(${rate(global('delivered_consume_auto_ack'))}) + (${rate(global('delivered_consume_manual_ack'))})`),
    ],
    ...rates.map(([panel, metric]) => [panel, byNode(rate(metric))] as const),
  ].map(([panel, query]) => ({ panel: panel as string, query: query as string }));
}

/** The dashboard of 3.10.8. */
export function dashboardOf310(): Dashboard {
  const joins = joinsBy('instance', `rabbitmq_identity_info{${variables}}`);
  const { cluster, node } = joins;
  const perSecond = (name: string): string => sumOf(cluster(`rate(${global(name)}[60s])`));
  const outgoing = [
    'redelivered',
    'delivered_consume_auto_ack',
    'delivered_consume_manual_ack',
    'delivered_get_auto_ack',
    'delivered_get_manual_ack',
  ];
  const left = (most: string, used: string): string => `(${node(most)}) - (${node(used)})`;
  return {
    version: '3.10.8',
    queries: [
      ...common(joins, '60s'),
      { panel: 'Incoming messages / s', query: perSecond('received') },
      { panel: 'Outgoing messages / s', query: outgoing.map(perSecond).join(' + ') },
      {
        panel: 'Publishers',
        query: `${sumOf(cluster('rabbitmq_channels'))} - ${sumOf(cluster('rabbitmq_channel_consumers'))}`,
      },
      { panel: 'Consumers', query: sumOf(cluster('rabbitmq_consumers')) },
      { panel: 'Nodes', query: sumOf(cluster('rabbitmq_build_info')) },
      { panel: 'Versions', query: node('rabbitmq_build_info') },
      { panel: 'Disk space available before publishers blocked', query: node('rabbitmq_disk_space_available_bytes') },
      { panel: 'File descriptors available', query: left('rabbitmq_process_max_fds', 'rabbitmq_process_open_fds') },
      {
        panel: 'TCP sockets available',
        query: left('rabbitmq_process_max_tcp_sockets', 'rabbitmq_process_open_tcp_sockets'),
      },
    ],
  };
}

const sizes = ['100.0', '1000.0', '10000.0', '100000.0', '1e+06', '1e+07', '5e+07', '1e+08', '+Inf'];

/** The dashboard of later releases. */
export function laterDashboard(): Dashboard {
  const identity = `rabbitmq_identity_info{${variables}, rabbitmq_endpoint="$endpoint"}`;
  const joins = joinsBy('instance, job', identity);
  const { cluster, node } = joins;
  const perSecond = (name: string): string => sumOf(cluster(`irate(${global(name)}[$__rate_interval])`));
  const increase = (part: string): string => sumOf(node(`increase(rabbitmq_message_size_bytes_${part}[$__range])`));
  const upTo = (size: string | undefined): string => increase(`bucket{le="${size}"}`);
  return {
    version: 'of August 2026',
    queries: [
      ...common(joins, '$__rate_interval'),
      { panel: 'Incoming messages / s', query: perSecond('received') },
      { panel: 'Outgoing messages / s', query: perSecond('delivered') },
      { panel: 'Publishers', query: sumOf(cluster('rabbitmq_global_publishers')) },
      { panel: 'Consumers', query: sumOf(cluster('rabbitmq_global_consumers')) },
      { panel: 'Nodes', query: `count(${identity})` },
      {
        panel: 'Versions',
        query: node(
          'rabbitmq_erlang_uptime_seconds * on(instance, job) group_left(rabbitmq_version, erlang_version) rabbitmq_build_info',
        ),
      },
      {
        panel: 'Disk space available before publishers blocked',
        query: node('(rabbitmq_disk_space_available_bytes - rabbitmq_disk_space_available_limit_bytes)'),
      },
      { panel: 'File descriptors available', query: node('(rabbitmq_process_max_fds - rabbitmq_process_open_fds)') },
      { panel: 'Avg Size', query: `${increase('sum')} / ${increase('count')}` },
      { panel: 'Message Size Distribution', query: `${upTo(sizes[0])} / ${upTo('+Inf')}` },
      ...sizes.slice(1).map((size, place) => ({
        panel: 'Message Size Distribution',
        query: `(${upTo(size)} - ${upTo(sizes[place])}) / ${upTo('+Inf')}`,
      })),
    ],
  };
}
