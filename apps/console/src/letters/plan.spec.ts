import { expect, it } from 'vitest';
import type { RedriveTask } from '../api/types';
import { resultOf } from './plan';

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

const stays = { why: 'unproven_origin', exchange: null, routing_key: null, count: 2, example_id: '7' };
const full = { why: 'refused', exchange: 'e', routing_key: 'k', count: 1, example_id: '9' };

it('shows what a redrive of one queue would do, most messages first', () => {
  const destinations = [
    { name: 'a', count: 1 },
    { name: 'b', count: 5 },
  ];
  expect(resultOf(task({ moved: 6, left: 3, gone: 1, destinations, left_at: [stays, full] }))).toEqual({
    count: 6,
    counts: [6],
    left: 3,
    gone: 1,
    withoutOrigin: 2,
    otherDestinations: 0,
    destinations: [
      { vhost: '/', name: 'b', count: 5 },
      { vhost: '/', name: 'a', count: 1 },
    ],
    leftAt: [
      { ...stays, vhost: '/', queue: 'q' },
      { ...full, vhost: '/', queue: 'q' },
    ],
    mayRefuse: [],
  });
});

it('keeps queues of the same name in two virtual hosts apart, and joins groups that leave messages for one reason', () => {
  const plan = resultOf(
    task({
      vhost: null,
      queue: null,
      groups: [{ moved: 2 }, { moved: 3 }] as unknown as NonNullable<RedriveTask['groups']>,
      moved: 5,
      destinations: [
        { vhost: 'one', name: 'orders', count: 2 },
        { vhost: 'two', name: 'orders', count: 3 },
      ],
      left_at: [
        { ...stays, vhost: 'one', queue: 'dead' },
        { ...stays, vhost: 'one', queue: 'other' },
        { ...stays, vhost: 'two', queue: 'dead' },
      ],
    }),
  );
  expect(plan.counts).toEqual([2, 3]);
  expect(plan.destinations.map(({ vhost, count }) => [vhost, count])).toEqual([
    ['two', 3],
    ['one', 2],
  ]);
  expect(plan.leftAt.map(({ vhost, queue, count }) => [vhost, queue, count])).toEqual([
    ['one', 'other', 4],
    ['two', 'dead', 2],
  ]);
});
