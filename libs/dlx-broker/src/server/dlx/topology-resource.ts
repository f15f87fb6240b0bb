import { joined } from '../http/json.js';
import { ok } from '../http/reply.js';
import type { Handler, Resource } from '../http/resource.js';
import { onlyKnown } from './input.js';
import { type TopologyJson, topologyToJson } from './graph/topology-json.js';
import { partIn, partOf, partParameters } from './graph/topology-part.js';
import { topologyOf } from './graph/topology.js';
import { inTurns } from '../http/turns.js';
import { seenVhosts } from './seen-vhosts.js';

/** Shows exchanges, queues and the ways of dead letters: of one virtual host, or of all that the user may see. */
const show: Handler = async (request, management) => {
  onlyKnown(request.query.keys(), partParameters, 'parameter');
  const asked = partIn(request.query);
  const { turns } = management.dlx;
  const all: TopologyJson[] = [];
  for (const vhost of seenVhosts(request, management)) {
    const whole = await inTurns(topologyOf(vhost), turns, request.signal);
    all.push(topologyToJson(await inTurns(partOf(whole, asked), turns, request.signal)));
  }
  return ok(joinedTopologies(all));
};

/** The topologies of several virtual hosts as one. */
const joinedTopologies = (all: readonly TopologyJson[]): TopologyJson => ({
  complete: all.every(({ complete }) => complete),
  total_queues: all.reduce((sum, each) => sum + each.total_queues, 0),
  exchanges: joined(all.map(({ exchanges }) => exchanges)),
  queues: joined(all.map(({ queues }) => queues)),
  bindings: joined(all.map(({ bindings }) => bindings)),
  dead_letter_edges: joined(all.map((each) => each.dead_letter_edges)),
  loops: joined(all.map(({ loops }) => loops)),
  dangling: joined(all.map(({ dangling }) => dangling)),
});

export const topology: readonly Resource[] = [{ path: '/dlx/topology', allows: 'management', GET: show }];
