// The amounts of a release, of every test that does less in `npm test` and in `npm run test:all` (test/amounts.ts): npm run nightly.
// Takes hours. Compares with the RabbitMQ of AMQP_URL and RABBITMQ_MANAGEMENT_URL; build first, because some tests start the command line.
import { spawnSync } from 'node:child_process';

const script = (name, ...args) => [process.execPath, [`test/${name}/nightly.mjs`, ...args]];
const vitest = (...files) => ['npx', ['vitest', 'run', '--config', 'vitest.all.config.ts', '--retry', '0', ...files]];

const parts = [
  ['random programs on a RabbitMQ', script('fuzz')],
  ['random programs over AMQP', script('fuzz', '--over', 'amqp')],
  ['power cuts, kills, bad disks', script('durability')],
  ['the simulation', script('simulation')],
  ['a soak of an hour', ['npm', ['run', 'soak']]],
  ['properties', vitest('test/properties'), { PROPERTY_RUNS: '4000' }],
  [
    'frames and connections with mistakes',
    vitest('test/amqp/frame-fuzz', 'test/amqp/connection-fuzz'),
    { FUZZ_INPUTS: '2000000', FUZZ_CONNECTIONS: '10000' },
  ],
  ['each fault of a disk', vitest('test/durability/fault-at-each-call'), { FAULT_STEP: '1' }],
  ['the console with a million dead letters', vitest('test/console/scale'), { CONSOLE_LETTERS: '1000000' }],
  ['other versions of Node and Nest', script('versions')],
  ['the package in fresh projects', script('consumers')],
  ['the declarations with each Nest and TypeScript', [process.execPath, ['test/packaging/check.mjs', '--all']]],
  ['short random programs', vitest('test/contract/random'), { RANDOM_PROGRAMS: '200' }],
];

const failed = [];
for (const [name, [command, args], env] of parts) {
  console.log(`\n== ${name}`);
  const { status } = spawnSync(command, args, { env: { ...process.env, CI: '1', ...env }, stdio: 'inherit' });
  if (status !== 0) failed.push(name);
}
console.log(failed.length === 0 ? '\nall parts passed' : `\nfailed: ${failed.join('; ')}`);
if (failed.length > 0) process.exitCode = 1;
