import type { Queue } from '../../broker/index.js';
import { partIn, partOf, partParameters } from '../dlx/graph/topology-part.js';
import { topologyOf } from '../dlx/graph/topology.js';
import { type ColumnOverrides, type TopologyJson, topologyToJson } from '../dlx/graph/topology-json.js';
import { onlyKnown } from '../dlx/input.js';
import { joinedTopologies } from '../dlx/topology-resource.js';
import { ok } from '../http/reply.js';
import { inTurns } from '../http/turns.js';
import { liveColumns } from './live-queue.js';
import { vhostsIn } from './remote.js';
import type { RemoteHandler, RemoteResource } from './resource.js';

const numbers = ['type', 'messages_ready', 'messages_unacknowledged', 'consumers', 'dead_letters_in'] as const;

/** Exchanges, queues and the ways of dead letters: of one virtual host, or of all that the user sees. */
const show: RemoteHandler = async ({ caller, query, signal }, { snapshots, turns }) => {
  onlyKnown(query.keys(), partParameters, 'parameter');
  const asked = partIn(query);
  const snapshot = await snapshots.of(caller);
  const overrides: ColumnOverrides = {
    ofQueue(queue: Queue) {
      const live = snapshot.byQueue.get(queue);
      return live === undefined ? {} : Object.fromEntries(numbers.map((name) => [name, liveColumns[name]?.(live)]));
    },
    ofExchange: (exchange) => snapshot.mirror.foreignTypes.get(exchange) ?? {},
  };
  const all: TopologyJson[] = [];
  for (const vhost of vhostsIn(snapshot, query)) {
    const whole = await inTurns(topologyOf(vhost), turns, signal);
    all.push(topologyToJson(await inTurns(partOf(whole, asked), turns, signal), overrides));
  }
  return ok(joinedTopologies(all));
};

export const topology: readonly RemoteResource[] = [{ path: '/dlx/topology', GET: show }];
