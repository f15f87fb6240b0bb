import type { VirtualHost } from '../../broker/index.js';
import { checkVhost } from '../auth.js';
import type { Management } from '../management.js';
import { ok } from '../reply.js';
import type { ApiRequest, Handler, Resource } from '../resource.js';
import { onlyKnown } from './input.js';
import { type TopologyJson, topologyToJson } from './graph/topology-json.js';
import { topologyOf } from './graph/topology.js';
import { inTurns } from '../turns.js';

/** How exchanges and queues hang together, and where dead letters go; of one virtual host or of all one may see. */
const show: Handler = async (request, management) => {
  onlyKnown(request.query.keys(), ['vhost'], 'parameter');
  const { turns } = management.dlx;
  const all: TopologyJson[] = [];
  for (const vhost of vhostsIn(request, management)) {
    const found = await inTurns(topologyOf(vhost), turns, request.signal);
    await turns.next();
    all.push(topologyToJson(found));
    await turns.next(); // of thousands of queues each of the three takes some milliseconds
  }
  return ok({
    exchanges: all.flatMap(({ exchanges }) => exchanges),
    queues: all.flatMap(({ queues }) => queues),
    bindings: all.flatMap(({ bindings }) => bindings),
    dead_letter_edges: all.flatMap((each) => each.dead_letter_edges),
    loops: all.flatMap(({ loops }) => loops),
    dangling: all.flatMap(({ dangling }) => dangling),
  });
};

function vhostsIn({ query, user }: ApiRequest, management: Management): readonly VirtualHost[] {
  const name = query.get('vhost');
  if (name === null) return management.vhostsOf(user);
  checkVhost(management.broker, user, name, 'GET');
  return [management.vhost(name)];
}

export const topology: readonly Resource[] = [{ path: '/dlx/topology', allows: 'management', GET: show }];
