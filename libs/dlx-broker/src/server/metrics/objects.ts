import type { Channel, Connection, Queue } from '../../engine/broker/index.js';
import { channelName, connectionName } from '../index.js';

/** A number that each object of a kind has. */
export interface ObjectNumber<T> {
  /** Without `rabbitmq_`. */
  readonly name: string;
  readonly help: string;
  read(of: T): number;
}

/** A kind of object: `/metrics` has the sums over all of them, `/metrics/per-object` a series for each. */
export interface Kind<T> {
  readonly labels: readonly string[];
  labelsOf(of: T): readonly string[];
  readonly numbers: readonly ObjectNumber<T>[];
}

const number = <T>(name: string, help: string, read: (of: T) => number): ObjectNumber<T> => ({ name, help, read });

/** The numbers of queues, by the names that RabbitMQ has for groups of them (`family` of `/metrics/detailed`). */
export const queueNumbers = {
  queue_coarse_metrics: [
    number<Queue>('queue_messages_ready', 'Messages ready for delivery', ({ length }) => length),
    number<Queue>('queue_messages_unacked', 'Messages delivered and not acknowledged', ({ unacked }) => unacked),
    number<Queue>(
      'queue_messages',
      'Messages ready, not acknowledged, or on their way as dead letters',
      ({ length, unacked, retained, delayed }) => length + unacked + retained + delayed,
    ),
  ],
  queue_consumer_count: [
    number<Queue>('queue_consumers', 'Consumers of a queue', ({ consumers }) => consumers.announced),
  ],
  queue_metrics: [
    number<Queue>('queue_messages_bytes', 'Bytes of the bodies', ({ bytes, bytesUnacked }) => bytes + bytesUnacked),
    number<Queue>('queue_messages_ready_bytes', 'Bytes of the bodies of ready messages', ({ bytes }) => bytes),
    number<Queue>(
      'queue_messages_unacked_bytes',
      'Bytes of the bodies of messages that are not acknowledged',
      ({ bytesUnacked }) => bytesUnacked,
    ),
    number<Queue>('queue_messages_persistent', 'Persistent messages', ({ persistent }) => persistent.count),
    number<Queue>(
      'queue_messages_persistent_bytes',
      'Bytes of the bodies of persistent messages',
      ({ persistent }) => persistent.bytes,
    ),
  ],
} as const;

export const queueKind: Kind<Queue> = {
  labels: ['vhost', 'queue'],
  labelsOf: ({ home, name }) => [home.name, name],
  numbers: Object.values(queueNumbers).flat(),
};

export const channelKind: Kind<Channel> = {
  labels: ['channel'],
  labelsOf: (channel) => [channelName(channel)],
  numbers: [
    number('channel_consumers', 'Consumers of a channel', ({ receiver }) => receiver.consumers.size),
    number('channel_messages_unacked', 'Messages delivered and not acknowledged', ({ unackedCount }) => unackedCount),
    number(
      'channel_messages_unconfirmed',
      'Messages published and not confirmed',
      ({ confirms }) => confirms?.pending ?? 0,
    ),
  ],
};

export const connectionKind: Kind<Connection> = {
  labels: ['connection'],
  labelsOf: (connection) => [connectionName(connection)],
  numbers: [number('connection_channels', 'Channels of a connection', ({ channels }) => channels.size)],
};
