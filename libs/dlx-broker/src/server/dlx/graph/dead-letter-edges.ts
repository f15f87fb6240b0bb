import { overflowPolicies, type Queue, queueArguments } from '../../../engine/broker/index.js';
import type { DeathReason } from '../../../engine/message/index.js';
import { type Keys, oneKey } from './keys.js';
import { type Certainty, nowhere, type Reach, type Reached } from './reach.js';
import { keysInto } from './binding-index.js';

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
  /** The queues that get dead letters of this queue: every one of them (`always`), or some (`sometimes`). */
  readonly reaches: Reached;
  /** The reasons for which messages die here without a rejection: time to live, length limit, delivery limit. */
  readonly automatic: readonly DeathReason[];
  /** Milliseconds until a message expires here, undefined for never. */
  readonly delay: number | undefined;
}

/** Undefined for a queue without a dead-letter exchange. Yields wherever it may pause. */
export function* deadLetterEdgeOf(queue: Queue, reach: Reach): Generator<void, DeadLetterEdge | undefined, void> {
  const { deadLetterExchange: exchange, deadLetterRoutingKey: routingKey, messageTtl } = queue.settings;
  if (exchange === undefined) return undefined;
  const keys = routingKey === undefined ? keysInto(queue, reach.bindingIndex) : [oneKey(routingKey)];
  return {
    queue,
    exchange,
    routingKey,
    by: queue.declared.arguments.get('x-dead-letter-exchange')?.type === 'S' ? 'argument' : 'policy',
    exchangeExists: reach.bindingIndex.vhost.exchanges.has(exchange),
    reaches: yield* reachedWith(keys, exchange, reach),
    automatic: automaticDeaths(queue),
    delay: messageTtl,
  };
}

/** The queues that messages with any of the keys reach. A queue is reached always only if it is so with each of the keys. */
function* reachedWith(keys: readonly Keys[], exchange: string, reach: Reach): Generator<void, Reached, void> {
  const byKeys: Reached[] = [];
  for (const each of keys) {
    byKeys.push((yield* reach.from(exchange, each)) ?? nowhere);
    yield;
  }
  const [first = nowhere] = byKeys;
  if (byKeys.every((each) => each === first)) return first;
  /** With how many of the keys a queue is reached always. */
  const always = new Map<Queue, number>();
  for (const each of byKeys) {
    for (const [queue, certainty] of each) {
      always.set(queue, (always.get(queue) ?? 0) + (certainty === 'always' ? 1 : 0));
      yield;
    }
  }
  const reached = new Map<Queue, Certainty>();
  for (const [queue, count] of always) reached.set(queue, count === keys.length ? 'always' : 'sometimes');
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
