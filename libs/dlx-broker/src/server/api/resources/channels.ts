import { isOf } from '../../http/auth.js';
import { badRequest, notFound } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import { vhostsIn, withoutStatistics } from '../../management.js';
import { listOf, oneOf } from '../lists.js';
import {
  channelColumns,
  channelName,
  consumerColumns,
  consumersOf,
  singleChannelColumns,
  userName,
} from '../views/client-columns.js';
import { checkOwner, connectionOf, connectionsFor } from './connections.js';

/**
 * Refuses lists of channels and consumers for requests without statistics, as RabbitMQ does.
 * @throws Problem 400
 */
function checkStatistics(request: ApiRequest): void {
  if (withoutStatistics(request)) throw badRequest('Stats in management UI are disabled on this node');
}

const getAll: Handler = (request, management) => {
  checkStatistics(request);
  const channels = connectionsFor(request, management).flatMap((connection) => [...connection.channels]);
  const columns = channelColumns(management.nodeName, management.measures(request));
  return listOf(request, management, channels, columns);
};

const ofConnection: Handler = (request, management) => {
  const channels = [...connectionOf(request, management).channels];
  const columns = channelColumns(management.nodeName, management.measures(request));
  return listOf(request, management, channels, columns);
};

const getOne: Handler = (request, management) => {
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
  { path: '/channels', allows: 'management', GET: getAll },
  { path: '/vhosts/:vhost/channels', allows: 'management', GET: getAll },
  { path: '/channels/:channel', allows: 'management', GET: getOne },
  { path: '/connections/:connection/channels', allows: 'management', GET: ofConnection },
  { path: '/consumers', allows: 'management', GET: consumersAll },
  { path: '/consumers/:vhost', allows: 'management', anyVhost: true, GET: consumersAll },
];
