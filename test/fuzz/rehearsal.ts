import type { ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { EngineGround } from './engine-ground.js';
import type { Pace } from './pace.js';
import type { Program, Step } from './program.js';
import type { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { World, type Ground, type Seen } from './world.js';

/** The number of channels of a program, all of one connection. */
export const channelCount = 2;

/** One that tests move through time. */
export interface VirtualGround extends Ground {
  readonly clock: ManualClock;
  readonly begun: number;
}

/** A program in virtual time, step by step. */
export class Rehearsal<On extends VirtualGround = EngineGround> {
  readonly world: World;
  readonly #pace: Pace;
  #slot = 0;

  private constructor(
    readonly ground: On,
    pace: Pace,
  ) {
    this.#pace = pace;
    this.world = new World(ground, pace.unit);
  }

  /** On the engine. */
  static of(program: Program, pace: Pace, profile: ProfileName): Promise<Rehearsal> {
    return Rehearsal.on(new EngineGround(profile), program, pace);
  }

  static async on<On extends VirtualGround>(ground: On, program: Program, pace: Pace): Promise<Rehearsal<On>> {
    const rehearsal = new Rehearsal(ground, pace);
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

/** The views of the engine after each step. */
export async function dryRun(program: Program, pace: Pace, profile: ProfileName): Promise<Seen[]> {
  const rehearsal = await Rehearsal.of([], pace, profile);
  const seen: Seen[] = [];
  for (const step of program) {
    await rehearsal.perform(step);
    seen.push(await rehearsal.world.observe());
  }
  return seen;
}
