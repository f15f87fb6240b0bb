import { type Cell, Fields, Tuple } from '../format/cell.js';
import { cellOf, type Column, objectOf, plain, shown } from './column.js';

/** `AMQP 0-9-1` as RabbitMQ's tools write it: `{0,9,1}`. */
function protocol(value: unknown): Cell {
  const versions = /^AMQP ([0-9]+)-([0-9]+)-([0-9]+)$/.exec(String(value))?.slice(1);
  return versions === undefined ? cellOf(value) : new Tuple(versions.map(Number));
}

const noneAsEmpty = (name: string): Column => ({ name, of: (row) => cellOf(row[name] ?? undefined) });

/** The name of a connection stands in place of its process id, which the HTTP API does not have. */
export const connectionColumns: readonly Column[] = [
  plain('pid', 'name'),
  plain('name'),
  plain('port'),
  plain('host'),
  shown(plain('user')),
  shown(plain('peer_host')),
  shown(plain('peer_port')),
  shown(plain('state')),
  plain('ssl'),
  ...['ssl_protocol', 'ssl_key_exchange', 'ssl_cipher', 'ssl_hash'].map(noneAsEmpty),
  ...['peer_cert_subject', 'peer_cert_issuer', 'peer_cert_validity'].map(noneAsEmpty),
  plain('channels'),
  { name: 'protocol', of: (row) => protocol(row['protocol']) },
  plain('auth_mechanism'),
  plain('vhost'),
  plain('timeout'),
  plain('frame_max'),
  plain('channel_max'),
  { name: 'client_properties', of: (row) => new Fields(row['client_properties']) },
  plain('recv_oct'),
  plain('recv_cnt'),
  plain('send_oct'),
  plain('send_cnt'),
  plain('send_pend'),
  plain('connected_at'),
];

export const channelColumns: readonly Column[] = [
  shown(plain('pid', 'name')),
  { name: 'connection', of: (row) => cellOf(objectOf(row['connection_details'])['name']) },
  plain('name'),
  plain('number'),
  shown(plain('user')),
  plain('vhost'),
  plain('transactional'),
  plain('confirm'),
  shown(plain('consumer_count')),
  shown(plain('messages_unacknowledged')),
  plain('messages_uncommitted'),
  plain('acks_uncommitted'),
  plain('messages_unconfirmed'),
  plain('prefetch_count'),
  plain('global_prefetch_count'),
];
