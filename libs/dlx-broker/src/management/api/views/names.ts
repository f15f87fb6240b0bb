import type { ChannelContext, ConnectionContext, QueueOwner } from '../../../broker/index.js';

/** A connection's name; one of the host application itself has no address, and is called as RabbitMQ calls its own. */
export const connectionName = ({ client, number }: QueueOwner): string => client?.name ?? `<host.${number}>`;

export const channelName = (channel: ChannelContext): string =>
  `${connectionName(channel.connection)} (${channel.number})`;

/** Who uses it; the host application needs no user. */
export const userName = ({ user }: ConnectionContext): string => user?.name ?? 'none';

/** Of the client's end; `undefined` as RabbitMQ says for its own connections. */
export const peerOf = ({
  client,
}: QueueOwner): { readonly peer_host: string; readonly peer_port: number | string } => ({
  peer_host: client?.peerHost ?? 'undefined',
  peer_port: client?.peerPort ?? 'undefined',
});
