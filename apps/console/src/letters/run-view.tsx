import { useEffect, useState } from 'preact/hooks';
import { type ApiError, apiErrorOf } from '../api/http';
import type { RedriveTask } from '../api/types';
import { href } from '../router';
import { loadRedrive, type RedriveOptions, startRedrive, type Target } from './api';
import { nextTarget, type Plan } from './plan';
import { Progress } from './progress';
import { isOpen } from './words';

/** The pause between two looks at a running redrive, in milliseconds. */
const interval = 500;

/** Starts a redrive for each target, one after the other, and shows the progress of the present one. */
export function RunView(props: { targets: readonly Target[]; plan: Plan; options: RedriveOptions; close: () => void }) {
  const { targets, plan, options, close } = props;
  const [at, setAt] = useState(() => nextTarget(plan, 0) ?? 0);
  const [task, setTask] = useState<RedriveTask>();
  const [problem, setProblem] = useState<ApiError>();
  const [moved, setMoved] = useState(0);
  const [look, setLook] = useState(0);
  const target = targets[at];

  useEffect(() => {
    let isShown = true;
    if (target === undefined) return undefined;
    // No more than the dialog showed, although more may match by now.
    const limit = Math.min(plan.counts[at] ?? Infinity, (options.limit ?? Infinity) - moved);
    startRedrive(target, { ...options, ...(limit !== Infinity && { limit }) }).then(
      (started) => isShown && setTask(started),
      (error: unknown) => isShown && setProblem(apiErrorOf(error)),
    );
    return () => void (isShown = false);
  }, [at]);

  useEffect(() => {
    if (task === undefined) return undefined;
    if (!isOpen(task)) {
      const next = nextTarget(plan, at + 1);
      const isLimitReached = options.limit !== undefined && moved + task.moved >= options.limit;
      // A cancelled or failed redrive ends the series.
      if (task.state === 'completed' && next !== undefined && !isLimitReached) {
        setMoved(moved + task.moved);
        setTask(undefined);
        setAt(next);
      }
      return undefined;
    }
    const controller = new AbortController();
    const timer = setTimeout(
      () =>
        loadRedrive(task.id, controller.signal).then(setTask, (error: unknown) => {
          if (controller.signal.aborted) return;
          // A broker that was restarted does not know the redrive. Other failures may pass.
          if (apiErrorOf(error).status === 404) setProblem(apiErrorOf(error));
          else setLook((count) => count + 1);
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
          {isRunning && targets.length === 1 && task?.state !== 'tripped' ? 'Close, it goes on' : 'Close'}
        </button>
      </div>
    </div>
  );
}
