// The amounts of a release, of every test that does less each day (test/amounts.ts): npm run nightly.
// Takes hours. Compares with the RabbitMQ of AMQP_URL and of AMQP_URL_4 (test/rabbitmq.ts); build first, because some tests start the command line.
import { spawnSync } from 'node:child_process';

const script = (name, ...args) => [process.execPath, [`test/${name}/nightly.mjs`, ...args]];
const vitest = (...files) => [process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--retry', '0', ...files]];

const nightly = { TEST_AMOUNTS: 'nightly' };
const parts = [
  ['random programs on each RabbitMQ', script('fuzz', '--programs', '10000')],
  ['random programs over AMQP', script('fuzz', '--over', 'amqp')],
  ['power cuts, kills, bad disks', script('durability'), nightly],
  ['the simulation', script('simulation')],
  ['a soak of an hour', ['npm', ['run', 'soak', '-w', 'bench']]],
  [
    'properties, connections with mistakes, long queues and streams, short random programs',
    vitest(
      'test/properties',
      'test/amqp/frame-fuzz',
      'test/amqp/connection-fuzz',
      'test/contract/random',
      'test/console/scale',
      'delayed-messages',
      'backpressure',
      'last-segment',
      'all-or-nothing',
    ),
    nightly,
  ],
  ['other versions of Node and Nest', script('versions')],
  ['the package in fresh projects', script('consumers')],
  ['applications as nest new makes them', [process.execPath, ['test/consumers/fresh.mjs']]],
  ['the package on Node for Windows, under Wine', script('windows')],
  ['the declarations with each Nest and TypeScript', [process.execPath, ['test/packaging/check.mjs', '--all']]],
];

const failed = [];
for (const [name, [command, args], env] of parts) {
  console.log(`\n== ${name}`);
  // On Windows npm is a script, which only a shell can run.
  const shell = command === 'npm' && process.platform === 'win32';
  const { status } = spawnSync(command, args, { env: { ...process.env, CI: '1', ...env }, shell, stdio: 'inherit' });
  if (status !== 0) failed.push(name);
}
console.log(failed.length === 0 ? '\nall parts passed' : `\nfailed: ${failed.join('; ')}`);
if (failed.length > 0) process.exitCode = 1;
