// Makes applications as `nest new` makes them, adds the package as npm would publish it with `dlx-broker init`, and runs what a newcomer
// runs, with the seconds of each step: `node test/consumers/fresh.mjs [11 or 12]`, after a build. Nothing of the application is changed by hand.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'dlx-broker-fresh-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

let failures = 0;

/** Runs a command line, which has to print the expected text and to succeed. A server has to run until it is stopped after `seconds`. */
function step(name, line, cwd, { expected = '', seconds = 300 } = {}) {
  const env = { ...process.env, NO_COLOR: '1', CI: 'true', PORT: '0', port: '0' };
  const began = performance.now();
  const { stdout, stderr, status } = spawnSync(line, {
    cwd,
    env,
    shell: true,
    encoding: 'utf8',
    timeout: seconds * 1_000,
  });
  const output = `${stdout}${stderr}`;
  const good = output.includes(expected) && (seconds < 300 ? status === null : status === 0);
  console.log(
    `${good ? 'ok    ' : 'FAILED'} ${((performance.now() - began) / 1_000).toFixed(1).padStart(5)} s  ${name}`,
  );
  if (good) return;
  failures++;
  console.error(output.split('\n').slice(-40).join('\n'));
}

step('pack', `npm pack --ignore-scripts --silent --workspace dlx-broker --pack-destination ${folder}`, root);
const tarball = join(folder, readdirSync(folder)[0]);
const rspack = '@rspack/core@2.3.2 webpack-node-externals@3.0.0 tsconfig-paths-webpack-plugin@4.2.0';
const started = { expected: 'OrdersHandler.create', seconds: 15 };

const versions = [
  [11, '11.0.24'],
  [12, '12.0.8'],
];
for (const [nest, cli] of versions.filter(([nest]) => [undefined, String(nest)].includes(process.argv[2]))) {
  const name = `nest-${nest}`;
  const app = join(folder, name);
  step(`${name}: nest new`, `npx --yes @nestjs/cli@${cli} new ${name} --package-manager npm --skip-git`, folder);
  step(`${name}: npm install dlx-broker`, `npm install --no-audit --no-fund ${tarball}`, app);
  step(`${name}: dlx-broker init`, 'npx dlx-broker init', app, { expected: 'creates  src/orders/orders.handler.ts' });
  step(`${name}: npm test`, 'npm test', app);
  step(`${name}: npm run test:e2e`, 'npm run test:e2e', app);
  step(`${name}: npm run build`, 'npm run build', app);
  step(`${name}: npm run start:prod`, 'exec node dist/main', app, started);
  step(`${name}: becomes a monorepo`, 'npx nest generate app admin', app);
  step(`${name}: dlx-broker init --module`, 'npx dlx-broker init --module apps/admin/src/admin.module.ts', app);
  step(`${name}: npm test of the monorepo`, 'npm test', app);
  // Nest 12 asks for these in a monorepo.
  if (nest === 12) step(`${name}: npm install rspack`, `npm install --no-audit --no-fund --save-dev ${rspack}`, app);
  step(`${name}: nest build admin`, 'npx nest build admin', app);
  step(`${name}: the second application`, 'exec node dist/apps/admin/main', app, started);
}
process.exitCode = failures > 0 ? 1 : 0;
