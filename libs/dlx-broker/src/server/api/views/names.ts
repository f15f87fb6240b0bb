import type { ChannelContext, ConnectionContext, QueueOwner } from '../../../engine/broker/index.js';

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
