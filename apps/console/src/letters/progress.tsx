import { useState } from 'preact/hooks';
import { apiErrorOf } from '../api/http';
import type { RedriveTask } from '../api/types';
import { isAdministrator, session } from '../session';
import { count, duration } from '../ui/format';
import { toast } from '../ui/toasts';
import { controlRedrive } from './api';
import { Destinations, LeftBehind } from './outcome';
import { resultOf } from './plan';
import { doneShare, isOpen } from './words';

const states: Readonly<Record<RedriveTask['state'], string>> = {
  running: 'Running',
  paused: 'Paused',
  waiting: 'Waiting: too many came back',
  done: 'Done',
  cancelled: 'Cancelled',
  failed: 'Failed',
};

/** The state of a redrive as a badge. */
export function State({ of }: { of: RedriveTask['state'] }) {
  return <span class={`task-state task-state-${of}`}>{states[of]}</span>;
}

/** True if the signed-in user may pause, resume and cancel a redrive. */
export const mayControl = ({ by }: RedriveTask): boolean => isAdministrator() || session.value?.user === by;

/** The progress of a redrive, its counts, and its controls for those who may use them. */
export function Progress(props: { task: RedriveTask; expected?: number; changed: () => void }) {
  const { task, expected, changed } = props;
  const share = doneShare(task, expected);
  const result = resultOf(task);
  return (
    <div class="run">
      <div class="run-head">
        <State of={task.state} />
        <span class="run-count">
          <b>{count(task.moved)}</b>
          {expected !== undefined && ` of ${count(expected)}`} moved
        </span>
        {isOpen(task) && mayControl(task) && <Controls task={task} changed={changed} />}
      </div>
      <div
        class={`progress progress-${task.state}`}
        role="progressbar"
        aria-label="Messages moved or left"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
      >
        <i style={{ width: `${share * 100}%` }} />
      </div>
      {task.reason !== null && <p class="banner banner-failed">{task.reason}</p>}
      <dl class="run-counts">
        <Count name="left" of={task.left} tip="They stay in the queue" />
        <Count
          name="gone"
          of={task.gone}
          tip="They were not in the queue any more: a consumer has them, or they have left"
        />
        <Count name="came back" of={task.returned} tip="They died again" tone="warn" />
        <Count name="examined" of={task.scanned} />
        <div class="run-pace">
          <dt class="visually-hidden">pace</dt>
          <dd>{pace(task, expected)}</dd>
        </div>
      </dl>
      <Destinations of={result.destinations} others={task.other_destinations} />
      <LeftBehind of={result.leftAt} />
    </div>
  );
}

function Count({ name, of, tip, tone }: { name: string; of: number; tip?: string; tone?: string }) {
  return (
    <div title={tip} class={of > 0 && tone !== undefined ? tone : undefined}>
      <dt>{name}</dt>
      <dd>{count(of)}</dd>
    </div>
  );
}

function pace(task: RedriveTask, expected: number | undefined): string {
  const limit = task.rate === 0 ? 'as fast as possible' : `${count(task.rate)} a second`;
  if (!isOpen(task)) return task.ended_at === null ? '' : `in ${duration(task.ended_at - task.started_at)}`;
  if (expected === undefined || task.rate === 0 || task.state !== 'running') return limit;
  const rest = Math.max(0, expected - task.moved - task.left);
  return `${limit}, about ${duration(Math.ceil(rest / task.rate) * 1000)} left`;
}

/** Pause, resume, cancel. */
export function Controls({ task, changed }: { task: RedriveTask; changed: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const control = async (what: 'pause' | 'resume' | 'cancel'): Promise<void> => {
    setBusy(true);
    try {
      await controlRedrive(task.id, what);
    } catch (error) {
      toast(apiErrorOf(error).message, 'failed');
    }
    setBusy(false);
    changed();
  };
  return (
    <span class="run-controls">
      {task.state === 'running' ? (
        <button type="button" disabled={isBusy} onClick={() => void control('pause')}>
          Pause
        </button>
      ) : (
        <button type="button" disabled={isBusy} onClick={() => void control('resume')}>
          Resume
        </button>
      )}
      <button type="button" class="danger" disabled={isBusy} onClick={() => void control('cancel')}>
        Cancel
      </button>
    </span>
  );
}
