import { expect, it } from 'vitest';
import type { Death } from '../../api/types';
import { hopsOf, publishedAt } from './timeline';

const death = (queue: string, time: number): Death => ({
  reason: 'rejected',
  count: 1,
  queue,
  exchange: '',
  routing_keys: [],
  time,
});

it('lists deaths from the first, with the waits between them', () => {
  const deaths = [death('c', 9_000), death('b', 4_000), death('a', 1_500)];
  expect(hopsOf(deaths, 1_000).map(({ death: { queue }, waited }) => [queue, waited])).toEqual([
    ['a', 500],
    ['b', 2_500],
    ['c', 5_000],
  ]);
  expect(hopsOf(deaths)[0]?.waited).toBeUndefined();
});

it('does not invent a wait when a loop puts an earlier time after a later one', () => {
  const hops = hopsOf([death('wait', 2_000), death('work', 5_000), death('old', 0)]);
  expect(hops.map(({ waited }) => waited)).toEqual([undefined, undefined, undefined]);
});

it('knows when the publisher says that it sent the message', () => {
  expect(publishedAt({ timestamp: 1_700_000_000 })).toBe(1_700_000_000_000);
  expect([{}, { timestamp: 0 }, { timestamp: 'x' }, { timestamp: 1e300 }].map(publishedAt)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
