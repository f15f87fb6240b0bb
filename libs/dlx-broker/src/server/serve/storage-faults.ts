import type { Broker, Journal, RefusedPattern, Stalled } from '../../engine/broker/index.js';
import type { Fault } from '../index.js';

/** The present faults of the storage, the worst first. A broker without a journal has none. */
export function faultsOf(
  broker: Broker,
  journal: Pick<Journal, 'hasFailed' | 'trouble'> | undefined,
): readonly Fault[] {
  if (journal === undefined) return [];
  const { hasFailed = false, trouble } = journal;
  const stalled = [...broker.stalls];
  return [
    ...(hasFailed
      ? [{ name: 'storage_failed', reason: trouble ?? 'the storage has failed', queues: [] } as const]
      : []),
    ...(stalled[0] === undefined ? [] : [unreadable(stalled[0], stalled)]),
  ];
}

/** The log line for a queue that stands still. */
export const stallLine = ({ queue, reason }: Stalled): string =>
  `queue '${queue.name}' in vhost '${queue.home.name}' stands still: ${reason}. Its messages stay where they are and are ` +
  'read again every few seconds; other queues go on. Check the disk';

/** The log line for a stored pattern that is refused today. */
export const refusedLine = ({ of, reason }: RefusedPattern): string =>
  `${of}: a stored pattern is refused now and matches no name: ${reason}. Set it again with another pattern`;

/** The log line when no queue stands still any more. */
export const stallOverLine = 'All queues go on: messages can be read from the disk again';

function unreadable({ reason }: Stalled, stalled: readonly Stalled[]): Fault {
  const queues = stalled.map(({ queue }) => ({ vhost: queue.home.name, name: queue.name }));
  const many = queues.length === 1 ? '1 queue stands' : `${queues.length} queues stand`;
  return { name: 'storage_unreadable', reason: `${many} still: ${reason}`, queues };
}
