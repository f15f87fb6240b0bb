import type { VirtualHost } from '../../broker/index.js';
import { list, one, type Row } from '../listing.js';
import type { Management } from '../management.js';
import { noContent, notFound, put } from '../reply.js';
import type { Handler, Resource } from '../resource.js';

const rowOf = ({ name }: VirtualHost, management: Management): Row => ({
  cluster_state: { [management.nodeName]: 'running' },
  name,
});

const getAll: Handler = (request, management) =>
  list(
    request,
    management.host.patterns,
    management.vhostsOf(request.user).map((vhost) => rowOf(vhost, management)),
    ['name'],
  );

const getOne: Handler = (request, management) =>
  one(request, rowOf(management.vhost(request.names['vhost'] ?? ''), management));

const putOne: Handler = async ({ names, body }, { broker }) => {
  const name = names['vhost'] ?? '';
  await body();
  const existed = broker.virtualHosts.has(name);
  broker.addVirtualHost(name);
  return put(existed ? 'changed' : 'created');
};

const deleteOne: Handler = ({ names }, { broker }) => {
  const name = names['vhost'] ?? '';
  if (!broker.virtualHosts.has(name)) throw notFound();
  broker.removeVirtualHost(name);
  return noContent;
};

export const vhosts: readonly Resource[] = [
  { path: '/vhosts', allows: 'management', GET: getAll },
  {
    path: '/vhosts/:vhost',
    allows: 'administrator',
    anyVhost: true,
    GET: getOne,
    PUT: putOne,
    DELETE: deleteOne,
  },
];
