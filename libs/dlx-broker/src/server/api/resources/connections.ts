import { AmqpError, type Connection, type User } from '../../../engine/broker/index.js';
import { isOf } from '../../http/auth.js';
import { badRequest, noContent, notAuthorised, notFound } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import { type Management, vhostsIn, withoutStatistics } from '../../management.js';
import { listOf, oneOf } from '../lists.js';
import {
  channelColumns,
  channelName,
  connectionColumns,
  connectionName,
  consumerColumns,
  consumersOf,
  singleChannelColumns,
  trackedConnectionColumns,
  userName,
} from '../views/client-columns.js';

/**
 * The connections that a user may see: those of the user, or with the tag monitoring all; of one virtual host if the
 * path names it.
 */
function connectionsFor({ names, user }: ApiRequest, management: Management): readonly Connection[] {
  const all = vhostsIn(names, management).flatMap(({ connections }) => [...connections]);
  return isOf('monitor', user) ? all : all.filter((connection) => connection.user?.name === user.name);
}

const getAll: Handler = (request, management) => {
  const { nodeName } = management;
  // For one virtual host RabbitMQ has no list without statistics.
  const columns =
    withoutStatistics(request) && request.names['vhost'] === undefined
      ? trackedConnectionColumns(nodeName)
      : connectionColumns(nodeName, management.measures(request), null);
  return listOf(request, management, connectionsFor(request, management), columns);
};

const getOne: Handler = (request, management) => {
  const connection = connectionOf(request, management);
  const columns = connectionColumns(management.nodeName, management.measures(request), '');
  return oneOf(request, connection, withoutStatistics(request) ? { name: connectionName } : columns);
};

const deleteOne: Handler = (request, management) => {
  end(connectionOf(request, management), request);
  return noContent;
};

const ofUser = (request: ApiRequest, management: Management): readonly Connection[] => {
  const { username = '' } = request.names;
  const all = [...management.broker.virtualHosts.values()].flatMap(({ connections }) => [...connections]);
  const found = all.filter((connection) => userName(connection) === username);
  checkOwner(request, username);
  return found;
};

const getOfUser: Handler = (request, management) =>
  listOf(request, management, ofUser(request, management), trackedConnectionColumns(management.nodeName));

const deleteOfUser: Handler = (request, management) => {
  for (const connection of ofUser(request, management)) end(connection, request);
  return noContent;
};

/**
 * The connection that the path names.
 * @throws Problem 404, or 401 when it belongs to another user
 */
function connectionOf(request: ApiRequest, { broker }: Management): Connection {
  for (const { connections } of broker.virtualHosts.values()) {
    for (const connection of connections) {
      if (connectionName(connection) !== request.names['connection']) continue;
      checkOwner(request, userName(connection));
      return connection;
    }
  }
  throw notFound();
}

/**
 * Reading a connection of another user needs the tag monitoring, and closing it the tag administrator.
 * @throws Problem 401
 */
function checkOwner({ method, user }: { readonly method: string; readonly user: User }, owner: string): void {
  const audience = method === 'DELETE' ? 'administrator' : 'monitor';
  if (user.name !== owner && !isOf(audience, user)) throw notAuthorised('User not authorised to access object');
}

/** Closes a connection with 320 and the reason of the operator. */
function end(connection: Connection, { headers }: ApiRequest): void {
  connection.force(new AmqpError('CONNECTION_FORCED', headers.get('x-reason') ?? 'Closed via management plugin'));
}

export const connections: readonly Resource[] = [
  { path: '/connections', allows: 'management', GET: getAll },
  { path: '/vhosts/:vhost/connections', allows: 'management', GET: getAll },
  { path: '/connections/username/:username', allows: 'management', GET: getOfUser, DELETE: deleteOfUser },
  { path: '/connections/:connection', allows: 'management', GET: getOne, DELETE: deleteOne },
];

/**
 * Refuses lists of channels and consumers for requests without statistics, as RabbitMQ does.
 * @throws Problem 400
 */
function checkStatistics(request: ApiRequest): void {
  if (withoutStatistics(request)) throw badRequest('Stats in management UI are disabled on this node');
}

const listChannels: Handler = (request, management) => {
  checkStatistics(request);
  const channels = connectionsFor(request, management).flatMap((connection) => [...connection.channels]);
  const columns = channelColumns(management.nodeName, management.measures(request));
  return listOf(request, management, channels, columns);
};

const channelsOfConnection: Handler = (request, management) => {
  const channels = [...connectionOf(request, management).channels];
  const columns = channelColumns(management.nodeName, management.measures(request));
  return listOf(request, management, channels, columns);
};

const getChannel: Handler = (request, management) => {
  checkStatistics(request);
  for (const { connections } of management.broker.virtualHosts.values()) {
    for (const connection of connections) {
      for (const channel of connection.channels) {
        if (channelName(channel) !== request.names['channel']) continue;
        checkOwner(request, userName(connection));
        return oneOf(request, channel, singleChannelColumns(management.nodeName, management.measures(request)));
      }
    }
  }
  throw notFound();
};

const consumersAll: Handler = (request, management) => {
  checkStatistics(request);
  const { names, user } = request;
  const all = vhostsIn(names, management).flatMap(consumersOf);
  const own = all.filter(({ receiver }) => receiver.channel.connection.user?.name === user.name);
  const shown = isOf('monitor', user) ? all : own;
  return listOf(request, management, shown, consumerColumns(management.nodeName));
};

export const channels: readonly Resource[] = [
  { path: '/channels', allows: 'management', GET: listChannels },
  { path: '/vhosts/:vhost/channels', allows: 'management', GET: listChannels },
  { path: '/channels/:channel', allows: 'management', GET: getChannel },
  { path: '/connections/:connection/channels', allows: 'management', GET: channelsOfConnection },
  { path: '/consumers', allows: 'management', GET: consumersAll },
  { path: '/consumers/:vhost', allows: 'management', anyVhost: true, GET: consumersAll },
];
