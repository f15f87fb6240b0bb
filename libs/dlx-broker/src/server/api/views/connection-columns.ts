import type { ClientDetails, Connection } from '../../../engine/broker/index.js';
import type { Columns } from '../columns.js';
import { tableToJson } from '../field-json.js';
import type { Measures } from '../../statistics/measures.js';
import { connectionSeries } from '../../statistics/series.js';
import { connectionName, peerOf, userName } from './names.js';
import { garbageCollection } from './unknown.js';

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
