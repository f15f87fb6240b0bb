import type {
  Channel,
  ChannelContext,
  ClientDetails,
  Connection,
  ConnectionContext,
  Consumer,
  Queue,
  QueueOwner,
  VirtualHost,
} from '../../../engine/broker/index.js';
import { happened, type Measures } from '../../statistics/measures.js';
import { channelSeries, connectionSeries, deliveredNames, publishedNames } from '../../statistics/series.js';
import { type Columns, rowOf } from '../lists.js';
import { tableToJson } from '../field-json.js';

/*
 * Numbers of Erlang's virtual machine, which Node.js does not have. Tools read them, so they have the values that
 * RabbitMQ shows for unknown numbers: -1 for the garbage collector, and 0 for `reductions`, the steps of the scheduler.
 */

/** The garbage collector of an Erlang process. */
export const garbageCollection = {
  fullsweep_after: -1,
  max_heap_size: -1,
  min_bin_vheap_size: -1,
  min_heap_size: -1,
  minor_gcs: -1,
} as const;

/** RabbitMQ's name for an unknown user. This broker does not record who declared an object. */
export const unknownUser = 'rmq-internal';

/** A time as RabbitMQ writes it. @param time milliseconds since 1970 */
export const timeText = (time: number): string => new Date(time).toISOString().replace('Z', '+00:00');

/**
 * The name of a connection. A connection of the host application has no address, and is named as RabbitMQ names its
 * direct connections.
 */
export const connectionName = ({ client, number }: QueueOwner): string => client?.name ?? `<host.${number}>`;

export const channelName = (channel: ChannelContext): string =>
  `${connectionName(channel.connection)} (${channel.number})`;

/** The user of a connection. The host application may have none. */
export const userName = ({ user }: ConnectionContext): string => user?.name ?? 'none';

/** The address of the client; `undefined` as text for direct connections, as in RabbitMQ. */
export const peerOf = ({
  client,
}: QueueOwner): { readonly peer_host: string; readonly peer_port: number | string } => ({
  peer_host: client?.peerHost ?? 'undefined',
  peer_port: client?.peerPort ?? 'undefined',
});

export const consumerColumns = (nodeName: string): Columns<Consumer> => ({
  arguments: ({ args }) => tableToJson(args),
  ack_required: ({ noAck }) => !noAck,
  active: (consumer) => isActive(consumer),
  activity_status: (consumer) => activityOf(consumer),
  channel_details: ({ receiver: { channel } }) => channelDetails(channel, nodeName),
  consumer_tag: ({ tag }) => tag,
  exclusive: ({ exclusive }) => exclusive,
  prefetch_count: ({ prefetch }) => prefetch.limit,
  queue: ({ queue }) => ({ name: queue.name, vhost: queue.home.name }),
});

const isActive = (consumer: Consumer): boolean =>
  !consumer.queue.consumers.singleActive || consumer.queue.consumers.active === consumer;

function activityOf(consumer: Consumer): string {
  if (!consumer.queue.consumers.singleActive) return 'up';
  return isActive(consumer) ? 'single_active' : 'waiting';
}

const channelDetails = (channel: ChannelContext, nodeName: string): object => ({
  connection_name: connectionName(channel.connection),
  name: channelName(channel),
  node: nodeName,
  number: channel.number,
  ...peerOf(channel.connection),
  user: userName(channel.connection),
});

export function consumersOf({ connections }: VirtualHost): readonly Consumer[] {
  const found: Consumer[] = [];
  for (const { channels } of connections) {
    for (const { receiver } of channels) found.push(...receiver.consumers.values());
  }
  return found;
}

/** The consumers of a queue. */
export function consumersOfQueue(vhost: VirtualHost, queue: Queue): readonly Consumer[] {
  return queue.consumers.count === 0 ? [] : consumersOf(vhost).filter((consumer) => consumer.queue === queue);
}

/** The columns of a channel in a list. */
export const channelColumns = (nodeName: string, measures: Measures): Columns<Channel> => ({
  acks_uncommitted: ({ transaction }) => sizeOf(transaction?.settlements.map(({ records }) => records)),
  confirm: ({ confirms }) => confirms !== undefined,
  connection_details: ({ connection }) => ({ name: connectionName(connection), ...peerOf(connection) }),
  consumer_count: ({ receiver }) => receiver.consumers.size,
  garbage_collection: () => garbageCollection,
  global_prefetch_count: ({ receiver }) => receiver.prefetch.limit,
  idle_since: (channel) => {
    const since = measures.idleSince(channel, channelSeries);
    return since === undefined ? undefined : timeText(since);
  },
  message_stats: (channel) => happened(measures.of(channel, channelSeries), [publishedNames, deliveredNames]),
  messages_unacknowledged: ({ unackedCount }) => unackedCount,
  messages_uncommitted: ({ transaction }) => transaction?.publishes.length ?? 0,
  messages_unconfirmed: ({ confirms }) => confirms?.pending ?? 0,
  name: channelName,
  node: () => nodeName,
  number: ({ number }) => number,
  pending_raft_commands: () => 0,
  prefetch_count: ({ receiver }) => receiver.consumerPrefetch,
  reductions: () => 0,
  reductions_details: () => measures.unchanging('msg_rates'),
  state: ({ receiver }) => (receiver.isFlowing ? 'running' : 'flow'),
  transactional: ({ transaction }) => transaction !== undefined,
  user: ({ connection }) => userName(connection),
  user_who_performed_action: ({ connection }) => userName(connection),
  vhost: ({ vhost }) => vhost.name,
});

/** The columns of a single channel. */
export const singleChannelColumns = (nodeName: string, measures: Measures): Columns<Channel> => ({
  ...channelColumns(nodeName, measures),
  consumer_details: ({ receiver }) =>
    [...receiver.consumers.values()].map((consumer) => rowOf(consumer, consumerColumns(nodeName))),
  deliveries: () => [],
  publishes: () => [],
});

const sizeOf = (lists: readonly (readonly unknown[])[] = []): number =>
  lists.reduce((sum, { length }) => sum + length, 0);

/** The columns of a connection without statistics. */
export const trackedConnectionColumns = (nodeName: string): Columns<Connection> => ({
  name: connectionName,
  node: () => nodeName,
  user: userName,
  vhost: ({ vhost }) => vhost.name,
});

/**
 * All columns of a connection. A connection of the host application is one that RabbitMQ calls direct: it has no
 * socket, and no columns about sockets.
 * @param nothing the value of a missing column: null in lists of RabbitMQ, an empty text for a single connection
 */
export const connectionColumns = (nodeName: string, measures: Measures, nothing: null | ''): Columns<Connection> => ({
  ...trackedConnectionColumns(nodeName),
  auth_mechanism: of((client) => client.authMechanism),
  channel_max: of((client) => client.channelMax),
  channels: ({ channels }) => channels.size,
  client_properties: ({ client }) => tableToJson(client?.properties ?? new Map()),
  connected_at: of((client) => client.connectedAt),
  frame_max: of((client) => client.frameMax),
  garbage_collection: of(() => garbageCollection),
  host: of((client) => client.host),
  peer_cert_issuer: of((client) => client.tls?.peerCertificate?.issuer ?? nothing),
  peer_cert_subject: of((client) => client.tls?.peerCertificate?.subject ?? nothing),
  peer_cert_validity: of((client) => client.tls?.peerCertificate?.validity ?? nothing),
  peer_host: (connection) => peerOf(connection).peer_host,
  peer_port: (connection) => peerOf(connection).peer_port,
  port: of((client) => client.port),
  protocol: ({ client }) => client?.protocol ?? 'Direct 0-9-1',
  recv_cnt: of((client) => client.traffic().recvCnt),
  recv_oct: of((client) => client.traffic().recvOct),
  recv_oct_details: detailsOf(measures, 'recv_oct'),
  reductions: of(() => 0),
  reductions_details: of(() => measures.unchanging('data_rates')),
  send_cnt: of((client) => client.traffic().sendCnt),
  send_oct: of((client) => client.traffic().sendOct),
  send_oct_details: detailsOf(measures, 'send_oct'),
  send_pend: of((client) => client.traffic().sendPend),
  ssl: ({ client }) => client?.isTls ?? false,
  ssl_cipher: of((client) => client.tls?.cipher ?? nothing),
  ssl_hash: of((client) => client.tls?.hash ?? nothing),
  ssl_key_exchange: of((client) => client.tls?.keyExchange ?? nothing),
  ssl_protocol: of((client) => client.tls?.protocol ?? nothing),
  state: ({ client }) => client?.state() ?? 'running',
  timeout: of((client) => client.timeout),
  type: ({ client }) => (client === undefined ? 'direct' : 'network'),
  user_provided_name: of((client) => client.userProvidedName),
  user_who_performed_action: userName,
});

const of =
  (read: (client: ClientDetails) => unknown) =>
  ({ client }: Connection): unknown =>
    client && read(client);

const detailsOf =
  (measures: Measures, name: string) =>
  (connection: Connection): unknown =>
    connection.client && measures.of(connection, connectionSeries).details(name);
