import { expect, it } from 'vitest';
import type { RedriveTask } from '../api/types';
import type { RedriveOptions } from './api';
import { nextTarget, planRedrive, sumOf } from './plan';

const task = (part: Partial<RedriveTask>): RedriveTask =>
  ({
    vhost: '/',
    queue: 'q',
    moved: 0,
    left: 0,
    gone: 0,
    other_destinations: 0,
    destinations: [],
    left_at: [],
    ...part,
  }) as RedriveTask;

it('adds the dry runs of several groups up', () => {
  const stays = { why: 'unproven_origin', exchange: null, routing_key: null, count: 2, example_id: '7' };
  const full = { why: 'refused', exchange: 'e', routing_key: 'k', count: 1, example_id: '9' };
  const plan = sumOf([
    task({ moved: 3, left: 2, destinations: [{ name: 'a', count: 3 }], left_at: [stays] }),
    task({
      moved: 6,
      left: 3,
      gone: 1,
      destinations: [
        { name: 'b', count: 5 },
        { name: 'a', count: 1 },
      ],
      left_at: [stays, full],
    }),
  ]);
  expect(plan).toEqual({
    count: 9,
    counts: [3, 6],
    left: 5,
    gone: 1,
    withoutOrigin: 4,
    otherDestinations: 0,
    destinations: [
      { vhost: '/', name: 'b', count: 5 },
      { vhost: '/', name: 'a', count: 4 },
    ],
    leftAt: [
      { ...stays, vhost: '/', queue: 'q', count: 4 },
      { ...full, vhost: '/', queue: 'q' },
    ],
  });
});

it('keeps queues of the same name in two virtual hosts apart', () => {
  const stays = { why: 'unroutable', exchange: 'e', routing_key: 'k', count: 1, example_id: '5' };
  const destinations = [{ name: 'orders', count: 2 }];
  const plan = sumOf([
    task({ vhost: 'one', queue: 'dead', destinations, left_at: [stays] }),
    task({ vhost: 'two', queue: 'dead', destinations, left_at: [stays] }),
  ]);
  expect(plan.destinations.map(({ vhost, name, count }) => [vhost, name, count])).toEqual([
    ['one', 'orders', 2],
    ['two', 'orders', 2],
  ]);
  expect(plan.leftAt.map(({ vhost, queue, count }) => [vhost, queue, count])).toEqual([
    ['one', 'dead', 1],
    ['two', 'dead', 1],
  ]);
});

it('divides one limit among the groups', async () => {
  const there = new Map([
    ['a', 30],
    ['b', 50],
    ['c', 20],
  ]);
  const ask = async ({ queue }: { queue: string }, { limit = Infinity }: RedriveOptions): Promise<RedriveTask> =>
    task({ queue, moved: Math.min(limit, there.get(queue) ?? 0) });
  const targets = [...there.keys()].map((queue) => ({ vhost: '/', queue }));
  const { signal } = new AbortController();
  const limited = await planRedrive(targets, { limit: 40 }, signal, ask);
  expect([limited.count, limited.counts]).toEqual([40, [30, 10, 0]]);
  const whole = await planRedrive(targets, {}, signal, ask);
  expect([whole.count, whole.counts]).toEqual([100, [30, 50, 20]]);
});

it('passes over groups without messages, also the last one', () => {
  const plan = { counts: [0, 3, 0, 2, 0] };
  expect([0, 2, 4].map((from) => nextTarget(plan, from))).toEqual([1, 3, undefined]);
});
