import type { VirtualHost } from '../../broker/index.js';
import { checkVhost } from '../http/auth.js';
import { joined } from '../http/json.js';
import type { Management } from '../management.js';
import { ok } from '../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../http/resource.js';
import { onlyKnown } from './input.js';
import { type TopologyJson, topologyToJson } from './graph/topology-json.js';
import { topologyOf } from './graph/topology.js';
import { inTurns } from '../http/turns.js';

/** Shows exchanges, queues and the ways of dead letters: of one virtual host, or of all that the user may see. */
const show: Handler = async (request, management) => {
  onlyKnown(request.query.keys(), ['vhost'], 'parameter');
  const { turns } = management.dlx;
  const all: TopologyJson[] = [];
  for (const vhost of vhostsIn(request, management)) {
    const found = await inTurns(topologyOf(vhost), turns, request.signal);
    all.push(topologyToJson(found));
  }
  return ok({
    exchanges: joined(all.map(({ exchanges }) => exchanges)),
    queues: joined(all.map(({ queues }) => queues)),
    bindings: joined(all.map(({ bindings }) => bindings)),
    dead_letter_edges: joined(all.map((each) => each.dead_letter_edges)),
    loops: joined(all.map(({ loops }) => loops)),
    dangling: joined(all.map(({ dangling }) => dangling)),
  });
};

function vhostsIn({ query, user }: ApiRequest, management: Management): readonly VirtualHost[] {
  const name = query.get('vhost');
  if (name === null) return management.vhostsOf(user);
  checkVhost(management.broker, user, name, 'GET');
  return [management.vhost(name)];
}

export const topology: readonly Resource[] = [{ path: '/dlx/topology', allows: 'management', GET: show }];
