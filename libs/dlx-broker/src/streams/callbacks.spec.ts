import { lastValueFrom } from 'rxjs';
import { setImmediate as soon } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { deadQueue, lettersHouse } from '../../../../test/houses/letters-house.js';
import { parkWhen } from './park-when.js';
import { Redrives } from './redrives.js';
import { tapDeaths } from './tap-deaths.js';
import { throttleRedrive } from './throttle-redrive.js';
import { where } from './where.js';

const later = (async () => false) as unknown as () => boolean;
const fails = (): never => {
  throw new Error('oops');
};

it.each([
  ['where', where(later)],
  ['parkWhen', parkWhen(later)],
])('%s: a test that answers a promise fails the stream, and its letter goes back', async (_, operator) => {
  const { letters, queue, die } = await lettersHouse();
  die('a');
  await expect(lastValueFrom(letters.from(deadQueue).pipe(operator))).rejects.toThrow(/answered a promise/);
  expect(queue(deadQueue)).toMatchObject({ ready: 1, unacknowledged: 0 });
});

it.each([
  ['where', { where: later }, /redrive: where answered a promise/],
  ['to', { to: (async () => 'hospital') as unknown as () => string }, /redrive: to answered a promise/],
  ['where', { where: fails }, /oops/],
  ['to', { to: fails }, /oops/],
])('redrive: a %s that fails or answers a promise fails the task, and moves nothing', async (_, options, text) => {
  const { backend, letters, queue, die } = await lettersHouse();
  die('a');
  const { state, error } = await new Redrives(backend, letters).start({ from: deadQueue, ...options }).ended;
  expect([state, String(error)]).toEqual(['failed', expect.stringMatching(text)]);
  expect(queue(deadQueue)).toMatchObject({ ready: 1, unacknowledged: 0 });
});

it('misspelt options are refused', async () => {
  const { letters } = await lettersHouse();
  const options: object = { prefech: 1 };
  expect(() => letters.from(deadQueue, options)).toThrow(/did you mean 'prefetch'/);
  expect(() => letters.run(deadQueue, (all) => all, options)).toThrow(/did you mean 'prefetch'/);
  expect(() => throttleRedrive({ perSecond: 1, ...({ too: 'x' } as object) })).toThrow(/did you mean 'to'/);
});

it('a pattern looks for queues no longer after the end', async () => {
  const { letters, clock } = await lettersHouse();
  letters.from(/dead$/).subscribe();
  for (let turn = 0; turn < 5; turn++) await soon();
  expect(clock.nextWakeUp()).toBeDefined();
  letters.close();
  expect(clock.nextWakeUp()).toBeUndefined();
});

it.each([
  ['where, otherwise', where(() => false, { otherwise: async () => fails() })],
  ['tapDeaths', tapDeaths(async () => fails())],
])('%s: what an asynchronous function rejects with fails the stream, and its letter goes back', async (_, operator) => {
  const { letters, queue, die } = await lettersHouse();
  die('a');
  await expect(lastValueFrom(letters.from(deadQueue).pipe(operator))).rejects.toThrow(/oops/);
  expect(queue(deadQueue)).toMatchObject({ ready: 1, unacknowledged: 0 });
});
