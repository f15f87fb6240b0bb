import type { Broker, Stalled } from './broker/index.js';
import type { Fault } from './management/index.js';
import type { Data } from './store/index.js';

/** What is wrong with the storage of a broker now, the worst first; nothing for one that keeps nothing. */
export function faultsOf(broker: Broker, data: Data | undefined): readonly Fault[] {
  if (data === undefined) return [];
  const { hasFailed, trouble } = data.journal;
  const stalled = [...broker.stalls];
  return [
    ...(hasFailed
      ? [{ name: 'storage_failed', reason: trouble ?? 'the storage has failed', queues: [] } as const]
      : []),
    ...(stalled[0] === undefined ? [] : [unreadable(stalled[0], stalled)]),
  ];
}

/** The line of the log about the first queue that stands still. */
export const stallLine = ({ queue, reason }: Stalled): string =>
  `queue '${queue.name}' in vhost '${queue.home.name}' stands still: ${reason}. Its messages stay where they are and are ` +
  'read again every few seconds; other queues go on. Check the disk';

/** The line of the log when the last of them goes on. */
export const stallOverLine = 'All queues go on: messages can be read from the disk again';

function unreadable({ reason }: Stalled, stalled: readonly Stalled[]): Fault {
  const queues = stalled.map(({ queue }) => ({ vhost: queue.home.name, name: queue.name }));
  const many = queues.length === 1 ? '1 queue stands' : `${queues.length} queues stand`;
  return { name: 'storage_unreadable', reason: `${many} still: ${reason}`, queues };
}
