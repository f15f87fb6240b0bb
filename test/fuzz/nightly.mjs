// node test/fuzz/nightly.mjs --programs 10000 --seed 1 [--width 20] [--over amqp] [--against 4]: on each RabbitMQ that is named, or on one
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    programs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Math.floor(Date.now() / 1000)) },
    width: { type: 'string', default: '20' },
    over: { type: 'string', default: 'rabbitmq' },
    against: { type: 'string' },
  },
});
const files = { rabbitmq: 'test/fuzz/fuzz.spec.ts', amqp: 'test/fuzz/over-amqp.spec.ts' };
const file = files[values.over];
if (file === undefined) throw new Error(`--over is one of ${Object.keys(files).join(', ')}`);
const env = {
  ...process.env,
  FUZZ_PROGRAMS: values.programs,
  FUZZ_SEED: values.seed,
  FUZZ_WIDTH: values.width,
  CI: '1',
  ...(values.against && { FUZZ_AGAINST: values.against }),
};
console.log(`seeds ${values.seed} to ${Number(values.seed) + Number(values.programs) - 1}`);
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', file], {
  env,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
