import type { RedriveTask } from '../../api/types';
import { QueuesOf } from '../../letters/queues-of';
import { href } from '../../router';
import { ago, count } from '../../ui/format';
import { Notice } from '../../ui/states';

/** Redrives that are not over, with their progress. */
export function RunningRedrives({ of }: { of: readonly RedriveTask[] }) {
  if (of.length === 0) {
    return (
      <Notice title="No redrive is running">
        <p>
          A redrive sends dead letters back to where they were first published. Start one from{' '}
          <a href={href(['dead-letters'])}>Dead letters</a>.
        </p>
      </Notice>
    );
  }
  return (
    <ul class="redrive-list">
      {of.map((task) => {
        const total = Math.max(1, Math.min(task.limit ?? Infinity, task.ids ?? task.ready_at_start));
        const done = Math.min(1, task.scanned / total);
        return (
          <li key={task.id} data-row={task.id} tabIndex={-1}>
            <div>
              <a href={href(['redrives', task.id])}>
                <QueuesOf task={task} />
              </a>
              <span class={task.state === 'running' ? 'muted' : 'redrive-state'}>{task.state}</span>
            </div>
            <div class="progress" role="progressbar" aria-label="Examined" aria-valuenow={Math.round(done * 100)}>
              <i style={{ width: `${done * 100}%` }} />
            </div>
            <small>
              {count(task.moved)} moved{task.left > 0 && `, ${count(task.left)} left`}
              {task.returned > 0 && `, ${count(task.returned)} came back`} · by <bdi>{task.by}</bdi>{' '}
              {ago(task.started_at)}
            </small>
          </li>
        );
      })}
    </ul>
  );
}
