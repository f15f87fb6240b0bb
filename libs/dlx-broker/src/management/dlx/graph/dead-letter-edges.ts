import { overflowPolicies, type Queue, queueArguments } from '../../../broker/index.js';
import type { DeathReason } from '../../../message/index.js';
import { oneKey } from './keys.js';
import { keysInto } from './wiring.js';
import type { Reach } from './reach.js';

/** The dead-letter exchange of one queue, and the queues behind it. */
export interface DeadLetterEdge {
  readonly queue: Queue;
  readonly exchange: string;
  /** Undefined: each message keeps its own keys. */
  readonly routingKey: string | undefined;
  /** The source of the setting: an argument of the queue, or a policy. */
  readonly by: 'argument' | 'policy';
  /** False: the exchange does not exist, so the dead letters are dropped. */
  readonly exchangeExists: boolean;
  /** The queues: true for one that gets every dead letter, false for one that may get some. */
  readonly reaches: ReadonlyMap<Queue, boolean>;
  /** Deaths without a rejection: by a time to live, a length limit, a delivery limit. */
  readonly automatic: readonly DeathReason[];
  /** Milliseconds until a message expires here, undefined for never. */
  readonly delay: number | undefined;
}

/** Undefined for a queue whose dead letters go nowhere. */
export function deadLetterEdgeOf(queue: Queue, reach: Reach): DeadLetterEdge | undefined {
  const { deadLetterExchange: exchange, deadLetterRoutingKey: routingKey, messageTtl } = queue.settings;
  if (exchange === undefined) return undefined;
  return {
    queue,
    exchange,
    routingKey,
    by: queue.declared.arguments.get('x-dead-letter-exchange')?.type === 'S' ? 'argument' : 'policy',
    exchangeExists: reach.wiring.vhost.exchanges.has(exchange),
    reaches: reachedFrom(queue, exchange, routingKey, reach),
    automatic: automaticDeaths(queue),
    delay: messageTtl,
  };
}

/** With a key of the queue's own choice it is known; otherwise the keys tell under which messages come to the queue. */
function reachedFrom(
  queue: Queue,
  exchange: string,
  routingKey: string | undefined,
  reach: Reach,
): Map<Queue, boolean> {
  const reached = new Map<Queue, boolean>();
  const keys = routingKey === undefined ? keysInto(queue, reach.wiring) : [oneKey(routingKey)];
  const all = keys.map((each) => reach.from(exchange, each)).filter((each) => each !== undefined);
  for (const each of all) {
    // What only some keys lead to is not sure, however sure these are.
    for (const queueReached of each.keys()) {
      if (!reached.has(queueReached))
        reached.set(
          queueReached,
          all.every((other) => other.get(queueReached) === true),
        );
    }
  }
  return reached;
}

function automaticDeaths({ settings }: Queue): readonly DeathReason[] {
  const deaths = new Set<DeathReason>();
  for (const { kills, setting } of queueArguments) {
    if (kills !== undefined && setting !== undefined && settings[setting] !== undefined) deaths.add(kills);
  }
  const { refuses, deadLettersRefused } = overflowPolicies[settings.overflow];
  if (refuses && !deadLettersRefused) deaths.delete('maxlen');
  return [...deaths];
}
