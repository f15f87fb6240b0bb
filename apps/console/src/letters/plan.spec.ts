import { expect, it } from 'vitest';
import type { RedriveTask } from '../api/types';
import { sumOf } from './plan';

const task = (part: Partial<RedriveTask>): RedriveTask =>
  ({ moved: 0, left: 0, gone: 0, other_destinations: 0, destinations: [], left_at: [], ...part }) as RedriveTask;

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
      { name: 'b', count: 5 },
      { name: 'a', count: 4 },
    ],
    leftAt: [{ ...stays, count: 4 }, full],
  });
});
