import type { Queue } from '../../../engine/broker/index.js';
import type { Measure } from '../../statistics/measures.js';

/** RabbitMQ does not compute `delta` for queues with priorities. */
const todo = ['todo', 'todo', 'todo', 'todo'];

/**
 * The inside of a classic queue, as RabbitMQ shows it. All messages are in `q4`, because nothing is paged out to
 * `delta`. It is shown as a whole, whatever `columns` asks for.
 */
export function backingQueueStatus(queue: Queue, measure: Measure): object {
  const rate = (name: string): number => Math.max(0, measure.details(name).rate);
  const { lengths } = queue;
  return Object.assign(Object.create(null) as object, {
    avg_ack_egress_rate: rate('ack'),
    avg_ack_ingress_rate: rate('deliver') + rate('get'),
    avg_egress_rate: rate('deliver_get'),
    avg_ingress_rate: rate('publish'),
    delta: lengths === undefined ? ['delta', 'undefined', 0, 0, 'undefined'] : ['delta', ...todo],
    len: queue.length,
    mode: 'default',
    next_deliver_seq_id: measure.value('deliver_get'),
    next_seq_id: queue.lastPosition,
    q1: 0,
    q2: 0,
    q3: 0,
    q4: queue.length,
    target_ram_count: 'infinity',
    version: 1,
    ...(lengths && { priority_lengths: Object.fromEntries(lengths.entries()) }),
  });
}
