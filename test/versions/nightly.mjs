// The tests on the other versions that the package supports: `node test/versions/nightly.mjs [part of a name]`, after a build and after
// `npm ci` in test/nest-11 and test/packaging. Node and Nest come from the registry: Node by its npm packages.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const wanted = process.argv[2] ?? '';
const folder = mkdtempSync(join(tmpdir(), 'dlx-broker-versions-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const run = (command, args, env = {}, cwd = process.cwd()) =>
  spawnSync(command, args, { cwd, env: { ...process.env, CI: '1', ...env }, stdio: 'inherit' }).status === 0;

/** @returns the folder with the packages; undefined if npm fails */
function install(name, packages) {
  const place = mkdtempSync(join(folder, name));
  writeFileSync(join(place, 'package.json'), '{ "private": true }');
  const done = run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {}, place);
  return done ? join(place, 'node_modules/') : undefined;
}

const vitest = (...args) => ['node_modules/vitest/vitest.mjs', 'run', ...args];
const onNest11 = (...files) => vitest('--config', 'test/nest-11/vitest.config.ts', ...files);

const failed = [];
function part(name, action) {
  if (!name.includes(wanted)) return;
  console.log(`\n== ${name}`);
  if (!action()) failed.push(name);
}

/** Runs scripts on a version of Node, which is the `node` of their child processes as well. */
function onNode(version, ...scripts) {
  const name = `node-${process.platform}-${process.arch}`;
  const packages = install(`node-${version}-`, [`${name}@${version}`]);
  if (packages === undefined) return false;
  const bin = join(packages, name, 'bin');
  const env = { PATH: `${bin}${delimiter}${process.env.PATH}` };
  return scripts.map((script) => run(join(bin, 'node'), script, env)).every(Boolean);
}

const all = vitest('--project', 'virtual time', '--project', 'virtual time, alone', '--project', 'contract');
for (const version of ['22', '24', '26']) {
  part(`Node ${version}`, () =>
    onNode(version, all, onNest11(), ['test/packaging/check.mjs'], ['test/consumers/nightly.mjs', 'vitest 5']),
  );
}
// The first versions that load ES modules by require().
for (const version of ['20.19.0', '22.12.0']) {
  part(`Node ${version}`, () => onNode(version, ['test/packaging/check.mjs'], onNest11('test/e2e')));
}
// The first version of each Nest.
for (const version of ['11.1.2', '12.0.4']) {
  part(`Nest ${version}`, () => {
    const names = ['common', 'core', 'microservices', 'platform-express', 'testing'];
    const nest = names.map((name) => `@nestjs/${name}@${version}`);
    const packages = install('nest-', [...nest, 'reflect-metadata@0.2.2', 'rxjs@7.8.2']);
    return packages !== undefined && run(process.execPath, onNest11('test/e2e', 'libs'), { NEST_PACKAGES: packages });
  });
}

console.log(failed.length === 0 ? '\nall parts passed' : `\nfailed: ${failed.join('; ')}`);
if (failed.length > 0) process.exitCode = 1;
