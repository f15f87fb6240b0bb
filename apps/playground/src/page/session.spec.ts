import { expect, it } from 'vitest';
import type { Command } from '../world/command';
import { advance, differing, goTo, left, moments, open, remaining, run, shown, view } from './session';

const publish: Command = { do: 'publish', key: 'work', body: 'a' };
const steps: readonly Command[] = [publish, { do: 'wait', ms: 1_000 }, { do: 'wait', ms: 500 }, publish];

it('knows what is left of the steps of a lesson', () => {
  expect(remaining(steps, [])).toEqual(steps);
  expect(remaining(steps, [publish, { do: 'wait', ms: 1_200 }])).toEqual([{ do: 'wait', ms: 300 }, publish]);
  expect(remaining(steps, [publish, { do: 'wait', ms: 1_500 }, publish, { do: 'wait', ms: 9 }])).toEqual([]);
  expect(remaining(steps, [publish, { do: 'wait', ms: 1_600 }])).toBeUndefined();
  expect(remaining(steps, [{ do: 'restart' }])).toBeUndefined();
});

it('goes back into a wait, on again, and forgets what was later after another command', () => {
  open({ topology: { queues: [{ name: 'work', arguments: { 'x-message-ttl': 1_000 } }] }, profile: '4' });
  run(publish);
  advance(400);
  run(publish);
  advance(5_000);
  expect(moments.value.map(({ at }) => at)).toEqual([0, 400, 1_000, 1_400]);
  goTo(3);
  expect(view.value.state).toMatchObject({ now: 1_000, queues: [{ length: 1 }] });
  goTo(4);
  expect(view.value.state).toMatchObject({ now: 1_400, queues: [{ length: 0 }] });
  goTo(2);
  run({ do: 'purge', queue: 'work' });
  expect(moments.value.map(({ at }) => at)).toEqual([0, 400, 400]);
  expect([shown.value, left.value]).toEqual([3, undefined]);
});

it('compares nothing with a version that refuses the topology', () => {
  const policies = [{ name: 'p', pattern: '', definition: { 'delivery-limit': -1 } }];
  open({ topology: { queues: [{ name: 'work' }], policies }, profile: '4' });
  run(publish);
  expect(differing.value).toEqual(new Map());
});
