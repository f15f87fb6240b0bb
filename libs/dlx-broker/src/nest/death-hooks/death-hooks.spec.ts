import { expect, it } from 'vitest';
import { HomeContext } from '../../platform/index.js';
import { ManualClock } from '../testing/manual-clock.js';
import { DeathHooks } from './death-hooks.js';

it('waits for no call after the end of the application: its timer would keep the process alive', async () => {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = { write: (_: string, text: string) => void lines.push(text) } as never;
  const hang = { origin: 'Mail.send', kinds: new Set(['parked'] as const), matches: () => true };
  const hooks = new DeathHooks([{ ...hang, call: () => new Promise(() => undefined) }], clock, new HomeContext(), log);
  hooks.notify({ kind: 'parked', queue: 'work', at: 0 } as never);
  await Promise.resolve();
  expect(clock.nextWakeUp()).toBe(clock.now() + 60_000);
  hooks.close();
  expect([clock.nextWakeUp(), lines]).toEqual([undefined, []]);
});
