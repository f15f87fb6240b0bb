import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api/http';
import type { RedriveTask } from '../api/types';
import { href } from '../router';
import { loadRedrive, type RedriveOptions, startRedrive, type Target } from './api';
import type { Plan } from './plan';
import { Progress } from './progress';
import { isOpen } from './words';

/** The pause between two looks at a running redrive, in milliseconds. */
const interval = 500;

/** Starts a redrive for each target, one after the other, and shows the progress of the present one. */
export function RunView(props: { targets: readonly Target[]; plan: Plan; options: RedriveOptions; close: () => void }) {
  const { targets, plan, options, close } = props;
  const [at, setAt] = useState(0);
  const [task, setTask] = useState<RedriveTask>();
  const [problem, setProblem] = useState<ApiError>();
  const [moved, setMoved] = useState(0);
  const [look, setLook] = useState(0);
  const target = targets[at];

  useEffect(() => {
    let isShown = true;
    if (target === undefined || plan.counts[at] === 0) {
      if (target !== undefined && at < targets.length - 1) setAt(at + 1);
      return undefined;
    }
    const left = options.limit === undefined ? undefined : options.limit - moved;
    if (left !== undefined && left <= 0) return undefined;
    startRedrive(target, { ...options, ...(left !== undefined && { limit: left }) }).then(
      (started) => isShown && setTask(started),
      (error: unknown) => isShown && setProblem(error instanceof ApiError ? error : new ApiError(0, String(error), '')),
    );
    return () => void (isShown = false);
  }, [at]);

  useEffect(() => {
    if (task === undefined) return undefined;
    if (!isOpen(task)) {
      // A cancelled or failed redrive ends the series.
      if (task.state === 'completed' && at < targets.length - 1) {
        setMoved(moved + task.moved);
        setTask(undefined);
        setAt(at + 1);
      }
      return undefined;
    }
    const controller = new AbortController();
    const timer = setTimeout(
      () =>
        loadRedrive(task.id, controller.signal).then(setTask, () => {
          if (!controller.signal.aborted) setLook((count) => count + 1);
        }),
      interval,
    );
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [task, look]);

  const isRunning = problem === undefined && (task === undefined || isOpen(task));
  return (
    <div class="action" aria-live="polite">
      {targets.length > 1 && (
        <p class="muted">
          Group {at + 1} of {targets.length}.{' '}
          {isRunning && 'The next one starts when this one ends, while this dialog is open.'}
        </p>
      )}
      {problem !== undefined && (
        <p class="banner banner-failed" role="alert">
          {problem.message}
        </p>
      )}
      {task !== undefined && (
        <Progress
          task={task}
          {...(plan.counts[at] !== undefined && { expected: plan.counts[at] })}
          changed={() => setLook((count) => count + 1)}
        />
      )}
      {task === undefined && isRunning && <p class="muted">Starting…</p>}
      <div class="dialog-actions">
        {task !== undefined && (
          <a class="button" href={href(['redrives', task.id])} onClick={close}>
            Open its page
          </a>
        )}
        <button type="button" class="primary" onClick={close}>
          {isRunning && targets.length === 1 ? 'Close, it goes on' : 'Close'}
        </button>
      </div>
    </div>
  );
}
