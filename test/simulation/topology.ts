import { longstr, int32 } from '../../libs/dlx-broker/src/engine/message/index.js';
import { planRetry, type RetryPlan } from '../../libs/dlx-broker/src/nest/retry/index.js';
import { clusterTopology, type Topology } from '../../libs/dlx-broker/src/backends/topology/index.js';
import { attempts, type Plan } from './plan.js';
import { queueNamed as queue } from '../harnesses/declared.js';

/** The names of the application's queues. Messages of `orders` that were rejected are in `dead`. */
export const queues = {
  orders: 'orders',
  done: 'done',
  small: 'small',
  dead: 'dead',
  parked: 'orders.parked',
} as const;

/** Messages that `small` has room for. */
const smallest = 2;

/** What the application declares at its start, and its retry policy. */
export function applicationOf(plan: Plan): { readonly topology: Topology; readonly retry: RetryPlan } {
  const retry = planRetry(
    { attempts, immediate: plan.immediate, backoff: plan.backoff.slice(0, attempts - 1 - plan.immediate) },
    {
      queue: queues.orders,
      origin: 'the simulation',
      random: () => 0.5,
      waitQueueType: plan.isQuorum ? 'quorum' : 'classic',
    },
  );
  const toDead = new Map([
    ['x-dead-letter-exchange', longstr('')],
    ['x-dead-letter-routing-key', longstr(queues.dead)],
  ]);
  const full = new Map([
    ['x-max-length', int32(smallest)],
    ['x-overflow', longstr('reject-publish')],
  ]);
  const own: Topology = {
    exchanges: [
      {
        name: 'events',
        type: 'direct',
        durable: true,
        autoDelete: false,
        internal: false,
        arguments: new Map(),
      },
    ],
    queues: [queue(queues.orders, toDead), queue(queues.done), queue(queues.small, full), queue(queues.dead)],
    bindings: [
      {
        source: 'events',
        destination: queues.orders,
        destinationType: 'queue',
        routingKey: 'order',
        arguments: new Map(),
      },
    ],
  };
  const all: Topology = {
    exchanges: [...own.exchanges, ...retry.topology.exchanges],
    queues: [...own.queues, ...retry.topology.queues],
    bindings: [...own.bindings, ...retry.topology.bindings],
  };
  return { topology: plan.isQuorum ? clusterTopology(all).topology : all, retry };
}
