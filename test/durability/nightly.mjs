// What a release has to stand, all of it or in parts:
// node test/durability/nightly.mjs [--points 100000] [--cycles 500] [--trials 2000] [--soak 5000000] [--programs 2000] [--seed N] [--only power-cuts]
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    points: { type: 'string', default: '100000' },
    cycles: { type: 'string', default: '500' },
    trials: { type: 'string', default: '2000' },
    soak: { type: 'string', default: '5000000' },
    programs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Math.floor(Date.now() / 1000)) },
    only: { type: 'string', default: '' },
  },
});
const env = {
  ...process.env,
  CI: '1',
  DURABILITY_POINTS: values.points,
  DURABILITY_CYCLES: values.cycles,
  DURABILITY_TRIALS: values.trials,
  DURABILITY_SOAK: values.soak,
  DURABILITY_PROGRAMS: values.programs,
  DURABILITY_SEED: values.seed,
};
console.log(`seed ${values.seed}`);
// A failure is a failure: nothing is tried again.
const args = ['node_modules/vitest/vitest.mjs', 'run', `test/durability/${values.only}`, '--retry', '0'];
const { status } = spawnSync(process.execPath, args, { env, stdio: 'inherit' });
process.exitCode = status ?? 1;
