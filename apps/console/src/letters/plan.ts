import { useEffect, useState } from 'preact/hooks';
import { type ApiError, apiErrorOf } from '../api/http';
import type { RedriveTask } from '../api/types';
import { pauseOfTyping } from '../api/wait';
import { deleteLetters, type QueueName, type RedriveOptions, type Target, tryRedrive } from './api';

/** A queue that messages would reach, with their number. */
export interface PlannedDestination {
  readonly vhost: string;
  readonly name: string;
  readonly count: number;
}

/** Messages that would stay, with the queue of the example. */
export type PlannedToStay = RedriveTask['left_at'][number] & QueueName;

/** What the server says that an action would do. */
export interface Plan {
  /** The messages that would be moved or deleted. */
  readonly count: number;
  /** The count for each target, in their order; 0 for targets behind the limit. */
  readonly counts: readonly number[];
  readonly left: number;
  readonly gone: number;
  /** Messages that stay because only headers name their origin, or because none is known. */
  readonly withoutOrigin: number;
  readonly destinations: readonly PlannedDestination[];
  readonly otherDestinations: number;
  readonly leftAt: readonly PlannedToStay[];
}

export interface Planned {
  readonly plan: Plan | undefined;
  readonly error: ApiError | undefined;
  readonly loading: boolean;
}

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
    const run = async (): Promise<void> => {
      try {
        await pauseOfTyping(controller.signal);
        const plan = await ask(controller.signal);
        if (!controller.signal.aborted) setState({ key, plan, error: undefined, loading: false });
      } catch (error) {
        if (controller.signal.aborted) return;
        setState({ key, plan: undefined, error: apiErrorOf(error), loading: false });
      }
    };
    void run();
    return () => controller.abort();
  }, [key]);
  return state.key === key ? state : { plan: undefined, error: undefined, loading: key !== undefined };
}

/**
 * What a redrive of these targets would do. They share the limit: each gets what the targets before it leave.
 * @param ask the dry run of one target
 */
export async function planRedrive(
  targets: readonly Target[],
  options: RedriveOptions,
  signal: AbortSignal,
  ask = tryRedrive,
): Promise<Plan> {
  const answers: RedriveTask[] = [];
  let { limit } = options;
  for (const target of targets) {
    if (limit === 0) break;
    const answer = await ask(target, { ...options, ...(limit !== undefined && { limit }) }, signal);
    answers.push(answer);
    if (limit !== undefined) limit = Math.max(0, limit - answer.moved);
  }
  const plan = sumOf(answers);
  return { ...plan, counts: targets.map((_, index) => plan.counts[index] ?? 0) };
}

/** The place of the first target from `from` on that has messages to move. @returns undefined if there is none */
export function nextTarget({ counts }: Pick<Plan, 'counts'>, from: number): number | undefined {
  const at = counts.findIndex((count, index) => index >= from && count > 0);
  return at < 0 ? undefined : at;
}

/** What a deletion of these targets would do. */
export async function planDelete(targets: readonly Target[], signal: AbortSignal): Promise<Plan> {
  const counts: number[] = [];
  for (const target of targets) counts.push(await deleteLetters(target, { dryRun: true, signal }));
  return { ...sumOf([]), count: counts.reduce((sum, count) => sum + count, 0), counts };
}

/** Adds dry runs up. The same destination in one virtual host, and the same address with the same reason, become one row. */
export function sumOf(answers: readonly RedriveTask[]): Plan {
  const destinations = new Map<string, PlannedDestination>();
  const leftAt = new Map<string, PlannedToStay>();
  const plan = { count: 0, left: 0, gone: 0, withoutOrigin: 0, otherDestinations: 0 };
  for (const answer of answers) {
    const { vhost, queue } = answer;
    plan.count += answer.moved;
    plan.left += answer.left;
    plan.gone += answer.gone;
    plan.otherDestinations += answer.other_destinations;
    for (const { name, count } of answer.destinations) {
      const key = JSON.stringify([vhost, name]);
      destinations.set(key, { vhost, name, count: count + (destinations.get(key)?.count ?? 0) });
    }
    for (const row of answer.left_at) {
      if (row.why === 'no_origin' || row.why === 'unproven_origin') plan.withoutOrigin += row.count;
      const key = JSON.stringify([vhost, row.why, row.exchange, row.routing_key]);
      leftAt.set(key, { ...row, vhost, queue, count: row.count + (leftAt.get(key)?.count ?? 0) });
    }
  }
  return {
    ...plan,
    counts: answers.map(({ moved }) => moved),
    destinations: [...destinations.values()].toSorted((one, other) => other.count - one.count),
    leftAt: [...leftAt.values()],
  };
}
