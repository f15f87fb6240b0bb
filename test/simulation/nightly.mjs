// The amount of a release: node test/simulation/nightly.mjs [--seeds 100000] [--seed N] [--processes N]
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Math.floor(Date.now() / 1000)) },
    processes: { type: 'string', default: String(availableParallelism()) },
  },
});
const processes = Number(values.processes);
const each = Math.ceil(Number(values.seeds) / processes);
console.log(`${processes * each} runs from seed ${values.seed} on, in ${processes} processes`);

const part = (index) =>
  new Promise((resolve) => {
    const env = {
      ...process.env,
      CI: '1',
      SIMULATION_SEED: String(Number(values.seed) + index * each),
      SIMULATION_SEEDS: String(each),
    };
    const args = ['node_modules/vitest/vitest.mjs', 'run', 'test/simulation/simulation.spec.ts', '--retry', '0'];
    spawn(process.execPath, args, { env, stdio: 'inherit' }).once('exit', (status) => resolve(status ?? 1));
  });
const statuses = await Promise.all(Array.from({ length: processes }, (_, index) => part(index)));
process.exitCode = Math.max(...statuses);
