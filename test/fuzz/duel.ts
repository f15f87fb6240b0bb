import { setTimeout as wait } from 'node:timers/promises';
import type { ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { comparable, isEqual, type Difference } from './difference.js';
import { beginning, paceOf, type Pace } from './pace.js';
import { namesIn, type Program } from './program.js';
import type { RabbitMqGround } from './rabbitmq-ground.js';
import { channelCount, dryRun } from './rehearsal.js';
import { World } from './world.js';

/** The result of a program: no difference, a difference, or undecided because the real broker was too slow. */
export type Verdict = 'equal' | 'late' | Difference;

/** The time limit of the real broker to show what the engine showed, in milliseconds. */
const timeout = 400;
const attempts = 3;

/**
 * Runs a program on both, in real time as slowly as it takes.
 * @param patiently slower from the start, to be sure
 */
export async function duel(
  program: Program,
  ground: RabbitMqGround,
  profile: ProfileName,
  patiently = false,
): Promise<Verdict> {
  let verdict: Verdict = 'late';
  for (let tries = 0, slowness = patiently ? 2.5 : 1; tries < attempts && verdict === 'late'; tries++, slowness *= 2) {
    const pace = paceOf(program, slowness);
    const expected = (await dryRun(program, pace, profile)).map(comparable);
    try {
      verdict = await follow(program, expected, pace, ground);
    } finally {
      const { queues, exchanges } = namesIn(program);
      await ground.clean(queues, exchanges);
    }
  }
  return verdict;
}

async function follow(
  program: Program,
  expected: readonly unknown[],
  pace: Pace,
  ground: RabbitMqGround,
): Promise<Verdict> {
  const world = new World(ground, pace.unit);
  await world.begin(channelCount);
  const first = beginning(program);
  let begun = Date.now();
  let slot = 0;
  for (const [at, step] of program.entries()) {
    if (at <= first) begun = Date.now() - slot * pace.stride;
    if (step.do === 'elapse') {
      slot += step.units;
      await wait(begun + slot * pace.stride - Date.now());
    }
    await world.perform(step);
    const slotEnd = begun + slot * pace.stride + pace.slot;
    const result = await comparedWith(world, expected[at], slotEnd);
    if (result.equal) {
      if (Date.now() > slotEnd) return 'late';
      continue;
    }
    // A broker that was too slow may differ for that reason.
    return result.late ? 'late' : { at, engine: expected[at], other: result.seen };
  }
  return 'equal';
}

/** Polls the broker until it shows the same twice in a row, or the time limit is over. */
async function comparedWith(
  world: World,
  expected: unknown,
  slotEnd: number,
): Promise<{ readonly equal: boolean; readonly late: boolean; readonly seen: unknown }> {
  let seen = comparable(await world.observe());
  const late = Date.now() > slotEnd;
  const until = Math.min(Date.now() + timeout, Math.max(Date.now() + 60, slotEnd));
  for (let equal = 0; ; seen = comparable(await world.observe())) {
    equal = isEqual(seen, expected) ? equal + 1 : 0;
    if (equal === 2 || (equal === 0 && Date.now() > until)) return { equal: equal === 2, late, seen };
    if (equal === 0) await wait(4);
  }
}
