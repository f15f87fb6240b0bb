import type { Queue } from '../../../broker/index.js';
import { deathsOf } from '../../../message/index.js';
import type { Columns } from '../../api/columns.js';
import { declaredQueueColumns } from '../../api/views/queue-columns.js';
import type { Measures } from '../../statistics/measures.js';
import { queueSeries } from '../../statistics/series.js';
import type { DeadLetterGraph } from '../graph/dead-letter-graph.js';
import { deadSince, isParked } from '../letter-facts.js';
import { featuresOf } from './features.js';

/** The columns by which a list of queues can be sorted: every one but the letters. */
export type QueueColumns = Columns<Queue>;

/**
 * Whether a queue holds dead letters: a dead-letter edge reaches it, it has had dead letters, or its next message is
 * parked, be it by a consumer that publishes a copy with the history. The work queue of a retry is none, although a wait
 * queue returns messages to it.
 */
export function isDeadLetterQueue(
  queue: Queue,
  { targets, returns }: Pick<DeadLetterGraph, 'targets' | 'returns'>,
): boolean {
  if (targets.has(queue) || (queue.counters.deadLettersIn > 0 && !returns.has(queue))) return true;
  const { head, counters } = queue;
  if (head === undefined) return false;
  // A message that died elsewhere and was not dead-lettered into this queue was published to it.
  return isParked(head) || (counters.deadLettersIn === 0 && deathsOf(head).length > 0);
}

/**
 * The columns of a queue in the lists of the console. Rates are per second.
 * @param isDead whether a queue is a dead-letter queue
 */
export function queueRowColumns(nodeName: string, measures: Measures, isDead: (queue: Queue) => boolean): QueueColumns {
  const { vhost, name, type, durable, exclusive, auto_delete } = declaredQueueColumns(nodeName);
  const rate = (of: string) => (queue: Queue) => measures.rate(queue, queueSeries, of);
  return {
    ...({ vhost, name, type, durable, exclusive, auto_delete } as QueueColumns),
    state: (queue) => stateOf(queue, measures),
    features: featuresOf,
    policy: ({ inForce }) => inForce.policy?.name ?? null,
    operator_policy: ({ inForce }) => inForce.operatorPolicy?.name ?? null,
    messages_ready: ({ length }) => length,
    messages_unacknowledged: ({ unacked }) => unacked,
    messages_dlx: ({ retained }) => retained,
    consumers: ({ consumers }) => consumers.count,
    publish_rate: rate('publish'),
    deliver_rate: rate('deliver_get'),
    dead_in_rate: rate('dead_letters_in'),
    dead_out_rate: rate('dead_letters_out'),
    dead_letters_in: ({ counters }) => counters.deadLettersIn,
    oldest: (queue) => oldestOf(queue) ?? null,
    dead_letter_queue: isDead,
  };
}

/** Since when the next message of a queue is dead, in milliseconds since 1970. */
export function oldestOf({ head }: Queue): number | undefined {
  return head === undefined ? undefined : deadSince(head);
}

/** `paused`: the body of its next message cannot be read now. `idle`: not used in the last second. */
function stateOf({ stalled, lastUse }: Queue, measures: Measures): 'paused' | 'idle' | 'running' {
  if (stalled !== undefined) return 'paused';
  return measures.idle(lastUse) === undefined ? 'running' : 'idle';
}
