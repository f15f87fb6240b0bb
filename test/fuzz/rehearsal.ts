import { EngineGround } from './engine-ground.js';
import type { Pace } from './pace.js';
import type { Program, Step } from './program.js';
import { World, type Seen } from './world.js';

/** Channels every program has, all of one connection. */
export const channelCount = 2;

/** A program on the engine, step by step in virtual time. */
export class Rehearsal {
  readonly ground = new EngineGround();
  readonly world: World;
  readonly #pace: Pace;
  #slot = 0;

  private constructor(pace: Pace) {
    this.#pace = pace;
    this.world = new World(this.ground, pace.unit);
  }

  static async of(program: Program, pace: Pace): Promise<Rehearsal> {
    const rehearsal = new Rehearsal(pace);
    await rehearsal.world.begin(channelCount);
    for (const step of program) await rehearsal.perform(step);
    return rehearsal;
  }

  async perform(step: Step): Promise<void> {
    const { clock, begun } = this.ground;
    if (step.do === 'elapse') {
      this.#slot += step.units;
      clock.advanceTo(Math.max(clock.now(), begun + this.#slot * this.#pace.stride));
    } else clock.advance(1);
    await this.world.perform(step);
  }
}

/** All that the engine shows, step by step. */
export async function rehearse(program: Program, pace: Pace): Promise<Seen[]> {
  const rehearsal = await Rehearsal.of([], pace);
  const seen: Seen[] = [];
  for (const step of program) {
    await rehearsal.perform(step);
    seen.push(await rehearsal.world.observe());
  }
  return seen;
}
