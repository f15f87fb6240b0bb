import { useEffect, useState } from 'preact/hooks';
import { type ApiError, apiErrorOf } from '../api/http';
import type { RedriveTask, RefusingQueue } from '../api/types';
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
  /** The count for each target, in their order. */
  readonly counts: readonly number[];
  readonly left: number;
  readonly gone: number;
  /** Messages that stay because only headers name their origin, or because none is known. */
  readonly withoutOrigin: number;
  readonly destinations: readonly PlannedDestination[];
  readonly otherDestinations: number;
  readonly leftAt: readonly PlannedToStay[];
  /** Destinations that may be full before all messages have moved. */
  readonly mayRefuse: readonly RefusingQueue[];
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

/** What a redrive of these targets would do. They share its limit. */
export async function planRedrive(
  targets: readonly Target[],
  options: RedriveOptions,
  signal: AbortSignal,
): Promise<Plan> {
  const answer = await tryRedrive(targets, options, signal);
  return { ...resultOf(answer), mayRefuse: answer.may_refuse };
}

/** What a deletion of these targets would do. */
export async function planDelete(targets: readonly Target[], signal: AbortSignal): Promise<Plan> {
  const counts: number[] = [];
  for (const target of targets) counts.push(await deleteLetters(target, { dryRun: true, signal }));
  const nothing = { left: 0, gone: 0, withoutOrigin: 0, otherDestinations: 0 };
  const count = counts.reduce((sum, each) => sum + each, 0);
  return { ...nothing, count, counts, destinations: [], leftAt: [], mayRefuse: [] };
}

/** What a redrive did, or would do. The same address with the same reason becomes one row. */
export function resultOf(answer: RedriveTask): Plan {
  const leftAt = new Map<string, PlannedToStay>();
  let withoutOrigin = 0;
  for (const row of answer.left_at) {
    if (row.why === 'no_origin' || row.why === 'unproven_origin') withoutOrigin += row.count;
    const { vhost = answer.vhost ?? '', queue = answer.queue ?? '' } = row;
    const key = JSON.stringify([vhost, row.why, row.exchange, row.routing_key]);
    leftAt.set(key, { ...row, vhost, queue, count: row.count + (leftAt.get(key)?.count ?? 0) });
  }
  return {
    count: answer.moved,
    counts: answer.groups?.map(({ moved }) => moved) ?? [answer.moved],
    left: answer.left,
    gone: answer.gone,
    withoutOrigin,
    destinations: answer.destinations
      .map(({ vhost = answer.vhost ?? '', name, count }) => ({ vhost, name, count }))
      .toSorted((one, other) => other.count - one.count),
    otherDestinations: answer.other_destinations,
    leftAt: [...leftAt.values()],
    mayRefuse: [],
  };
}
