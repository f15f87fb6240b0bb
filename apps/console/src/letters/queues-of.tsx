import type { RedriveTask } from '../api/types';
import { Name } from '../ui/parts';

/** The queue of a redrive, or how many queues its groups have. */
export function QueuesOf({ task: { queue, groups = [] } }: { task: Pick<RedriveTask, 'queue' | 'groups'> }) {
  if (queue !== null) return <Name of={queue} />;
  return <>{new Set(groups.map((group) => JSON.stringify([group.vhost, group.queue]))).size} queues</>;
}
