import { describe, expect, it, vi } from 'vitest';
import { type Lesson, lessons } from '../../apps/playground/src/lessons/index.js';
import type { Driver } from './driver.js';
import { drivers } from './drivers.js';
import { Player } from './lessons.js';

// Lessons in real time mostly wait: let many of them wait together.
vi.setConfig({ maxConcurrency: 12, testTimeout: 120_000 });

/** What real time does to a lesson it may survive twice. */
const tries = 3;

async function ends(driver: Driver, lesson: Lesson): Promise<unknown> {
  const session = await driver.open();
  try {
    return await new Player(session, driver.realTime).play(lesson);
  } finally {
    await session.close();
  }
}

function expected({ profile, realTime }: Driver, lesson: Lesson): unknown {
  if (profile === '4') return lesson.on4?.ends ?? lesson.ends;
  return (realTime ? lesson.endsOnReal310 : undefined) ?? lesson.ends;
}

for (const driver of drivers) {
  const missing = await driver.unavailable();
  const played = lessons.filter(({ virtualOnly }) => virtualOnly === undefined || !driver.realTime);
  describe.skipIf(missing !== undefined)(`the lessons of the playground on ${driver.name} ${driver.profile}`, () => {
    it.concurrent.each(played.filter(({ steps }) => steps.every((step) => step.do !== 'restart')))(
      '$id',
      { retry: driver.realTime ? tries - 1 : 0 },
      async (lesson) => {
        expect(await ends(driver, lesson)).toEqual(expected(driver, lesson));
      },
    );
  });
}
