/**
 * The queue type of a wait queue. `classic` is durable, and enough for one broker. `quorum` is for a cluster: it is replicated, and
 * keeps a message until the work queue has taken it (rule M1). A quorum wait queue has no lease, because a lease would delete messages
 * whose work queue is full or missing. As quorum wait queues are never deleted, only a fixed set of delays and the delays of policies
 * have one.
 */
export type WaitQueueType = 'classic' | 'quorum';

/**
 * The name of the wait queue for a delay, and of the fanout exchange in front of it. It has everything that a queue cannot
 * change: the delay, the type unless it is `classic`, and the exchange to which it dead-letters unless it is the default exchange.
 */
export function waitQueueName(delay: number, type: WaitQueueType = 'classic', exchange = ''): string {
  const name = type === 'classic' ? `wait.${delay}` : `wait.keep.${delay}`;
  return exchange === '' ? name : `${exchange}.${name}`;
}

/** True for names that wait queues of the default exchange have. */
export const isWaitQueueName = (name: string): boolean => /^wait\.(?:keep\.|quorum\.)?\d+$/.test(name);
