import type { ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { comparable, isEqual } from './difference.js';
import type { Verdict } from './duel.js';
import { EngineOverAmqpGround } from './engine-over-amqp-ground.js';
import type { Opponent } from './opponent.js';
import { unhurried } from './pace.js';
import type { Program } from './program.js';
import { Rehearsal, dryRun } from './rehearsal.js';
import { roughnessOf, swollen } from './rough-wire.js';

/** The engine behind its listener must show what the engine shows that is called directly, both in virtual time. */
export const engineOverAmqp = (profile: ProfileName): Opponent => ({
  name: 'the engine over AMQP',
  profile,
  duel: (program) => duel(program, profile),
});

async function duel(drawn: Program, profile: ProfileName): Promise<Verdict> {
  const program = swollen(drawn);
  const expected = (await dryRun(program, unhurried, profile)).map(comparable);
  const ground = await EngineOverAmqpGround.open(roughnessOf(drawn), profile);
  try {
    const rehearsal = await Rehearsal.on(ground, [], unhurried);
    for (const [at, step] of program.entries()) {
      // Whatever was sent has arrived before time passes.
      await ground.settle();
      await rehearsal.perform(step);
      await ground.settle();
      const seen = comparable(await rehearsal.world.observe());
      if (!isEqual(seen, expected[at])) return { at, engine: expected[at], other: seen };
    }
    return 'equal';
  } finally {
    await ground.close();
  }
}
