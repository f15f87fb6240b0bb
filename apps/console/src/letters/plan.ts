import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api/http';
import type { RedriveTask } from '../api/types';
import { deleteLetters, type RedriveOptions, type Target, tryRedrive } from './api';

/** What the server says that an action would do. */
export interface Plan {
  /** The messages that would be moved or deleted. */
  readonly count: number;
  /** The count for each target, in their order. */
  readonly counts: readonly number[];
  readonly left: number;
  readonly gone: number;
  /** Messages that stay because only headers name their origin, or because none is known. */
  readonly withoutOrigin: number;
  readonly destinations: RedriveTask['destinations'];
  readonly otherDestinations: number;
  readonly leftAt: RedriveTask['left_at'];
}

export interface Planned {
  readonly plan: Plan | undefined;
  readonly error: ApiError | undefined;
  readonly loading: boolean;
}

/** The pause after the last change of a form, before the server is asked, in milliseconds. */
const pause = 300;

/**
 * Asks the server by dry runs what an action would do, and again when the question changes.
 * @param key identifies the question; undefined: the form is not complete, so nothing is asked
 */
export function usePlan(key: string | undefined, ask: (signal: AbortSignal) => Promise<Plan>): Planned {
  const [state, setState] = useState<Planned & { readonly key: string | undefined }>({
    key,
    plan: undefined,
    error: undefined,
    loading: key !== undefined,
  });
  useEffect(() => {
    const controller = new AbortController();
    setState({ key, plan: undefined, error: undefined, loading: key !== undefined });
    if (key === undefined) return undefined;
    const timer = setTimeout(async () => {
      try {
        const plan = await ask(controller.signal);
        if (!controller.signal.aborted) setState({ key, plan, error: undefined, loading: false });
      } catch (error) {
        if (controller.signal.aborted) return;
        const failure = error instanceof ApiError ? error : new ApiError(0, String(error), 'internal');
        setState({ key, plan: undefined, error: failure, loading: false });
      }
    }, pause);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key]);
  return state.key === key ? state : { plan: undefined, error: undefined, loading: key !== undefined };
}

/** What a redrive of these targets would do. */
export async function planRedrive(
  targets: readonly Target[],
  options: RedriveOptions,
  signal: AbortSignal,
): Promise<Plan> {
  const answers: RedriveTask[] = [];
  for (const target of targets) answers.push(await tryRedrive(target, options, signal));
  return sumOf(answers);
}

/** What a deletion of these targets would do. */
export async function planDelete(targets: readonly Target[], signal: AbortSignal): Promise<Plan> {
  const counts: number[] = [];
  for (const target of targets) counts.push(await deleteLetters(target, { dryRun: true, signal }));
  return { ...sumOf([]), count: counts.reduce((sum, count) => sum + count, 0), counts };
}

/** Adds dry runs up. Destinations of the same name, and addresses with the same reason, become one row. */
export function sumOf(answers: readonly RedriveTask[]): Plan {
  const destinations = new Map<string, number>();
  const leftAt = new Map<string, RedriveTask['left_at'][number]>();
  const plan = { count: 0, left: 0, gone: 0, withoutOrigin: 0, otherDestinations: 0 };
  for (const answer of answers) {
    plan.count += answer.moved;
    plan.left += answer.left;
    plan.gone += answer.gone;
    plan.otherDestinations += answer.other_destinations;
    for (const { name, count } of answer.destinations) destinations.set(name, (destinations.get(name) ?? 0) + count);
    for (const row of answer.left_at) {
      if (row.why === 'no_origin' || row.why === 'unproven_origin') plan.withoutOrigin += row.count;
      const key = JSON.stringify([row.why, row.exchange, row.routing_key]);
      leftAt.set(key, { ...row, count: row.count + (leftAt.get(key)?.count ?? 0) });
    }
  }
  return {
    ...plan,
    counts: answers.map(({ moved }) => moved),
    destinations: [...destinations]
      .map(([name, count]) => ({ name, count }))
      .toSorted((one, other) => other.count - one.count),
    leftAt: [...leftAt.values()],
  };
}
