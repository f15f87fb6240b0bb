import { useEffect, useState } from 'preact/hooks';
import { type ApiError, apiErrorOf } from '../api/http';
import type { RedriveTask } from '../api/types';
import { href } from '../router';
import { ProblemBanner } from '../ui/states';
import { loadRedrive, type RedriveOptions, startRedrive, type Target } from './api';
import type { Plan } from './plan';
import { Progress } from './progress';
import { isOpen } from './words';

/** The pause between two looks at a running redrive, in milliseconds. */
const interval = 500;

/** Starts a redrive of the targets, and shows its progress. */
export function RunView(props: { targets: readonly Target[]; plan: Plan; options: RedriveOptions; close: () => void }) {
  const { targets, plan, options, close } = props;
  const [task, setTask] = useState<RedriveTask>();
  const [problem, setProblem] = useState<ApiError>();
  const [look, setLook] = useState(0);

  useEffect(() => {
    let isShown = true;
    // No more of each target than the dialog showed, although more may match by now.
    const limited = targets.map((target, index) => ({ ...target, limit: plan.counts[index] ?? 0 }));
    startRedrive(
      limited.filter(({ limit }) => limit > 0),
      options,
    ).then(
      (started) => isShown && setTask(started),
      (error: unknown) => isShown && setProblem(apiErrorOf(error)),
    );
    return () => void (isShown = false);
  }, []);

  useEffect(() => {
    if (task === undefined || !isOpen(task)) return undefined;
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
      <ProblemBanner text={problem?.message} />
      {task !== undefined && (
        <Progress task={task} expected={plan.count} changed={() => setLook((count) => count + 1)} />
      )}
      {task === undefined && isRunning && <p class="muted">Starting…</p>}
      <div class="dialog-actions">
        {task !== undefined && (
          <a class="button" href={href(['redrives', task.id])} onClick={close}>
            Open its page
          </a>
        )}
        <button type="button" class="primary" onClick={close}>
          {isRunning && task?.state !== 'waiting' ? 'Close, it goes on' : 'Close'}
        </button>
      </div>
    </div>
  );
}
