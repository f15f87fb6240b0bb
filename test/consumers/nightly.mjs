// Installs the package, as npm would publish it, in fresh projects, and uses it there: `node test/consumers/nightly.mjs [part of a name]`,
// after a build. Each project is installed from the registry; each step has to print what is expected.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv[2] ?? '';

const nest11 = [
  ...['common', 'core'].map((name) => `@nestjs/${name}@11.2.10`),
  ...['microservices', 'testing'].map((name) => `@nestjs/${name}@11.2.6`),
];
const nest12 = [
  ...['common', 'core'].map((name) => `@nestjs/${name}@12.5.1`),
  ...['microservices', 'testing'].map((name) => `@nestjs/${name}@12.1.1`),
];
const always = ['reflect-metadata@0.2.2', 'rxjs@7.8.2', '@opentelemetry/api@1.9.0'];
const swc = ['@swc/core@1.16.22', '@swc/cli@0.8.1', '@swc/jest@0.2.39'];
const jest29 = ['jest@29.7.0', 'ts-jest@29.4.15', '@types/jest@29.5.14'];
const jest30 = ['jest@30.5.2', 'ts-jest@29.4.15', '@types/jest@30.0.0'];
const webpack = [
  'webpack@5.112.2',
  'webpack-node-externals@3.0.0',
  'ts-loader@9.6.2',
  'fork-ts-checker-webpack-plugin@9.1.0',
  'tsconfig-paths-webpack-plugin@4.2.0',
];

const letter = 'dead letter: order 1, no tea, rejected; console 200, metrics 200';
const build = (builder) => ({ name: `nest build, ${builder}`, builder, expected: letter });
const jest = (config, expected = 'Tests:       2 passed, 2 total') => ({
  name: config,
  command: ['node_modules/jest/bin/jest.js', '-c', config, '--rootDir', '.', '--roots', 'src'],
  expected,
});
const vitest = (config) => ({
  name: config,
  command: ['node_modules/vitest/vitest.mjs', 'run', '--globals', '--config', config],
  expected: 'Tests  2 passed (2)',
});

/** An application in one file, which runs in a folder without packages. */
const oneFile = (bundler, command) => ({
  name: `one file by ${bundler}`,
  bundle: `${bundler}.cjs`,
  command,
  expected: letter,
});
const oneFiles = [
  oneFile('esbuild', ['esbuild.config.cjs']),
  oneFile('webpack', ['node_modules/webpack-cli/bin/cli.js', '--config', 'webpack.config.cjs']),
];
const bundlers = ['esbuild@0.28.2', 'webpack-cli@6.0.1'];

const projects = [
  {
    name: 'nest 11, CommonJS, jest 29',
    type: 'commonjs',
    packages: [...nest11, '@nestjs/cli@11.0.24', 'typescript@5.9.3', ...webpack, ...bundlers, ...swc, ...jest29],
    steps: [
      build('swc'),
      build('webpack'),
      build('tsc'),
      ...oneFiles,
      jest('jest.config.cjs'),
      jest('ts-jest.config.cjs'),
    ],
  },
  {
    name: 'nest 11, CommonJS, jest 30',
    type: 'commonjs',
    packages: [...nest11, 'typescript@5.9.3', ...swc, ...jest30],
    steps: [jest('jest.config.cjs'), jest('ts-jest.config.cjs')],
  },
  {
    name: 'nest 12, CommonJS',
    type: 'commonjs',
    packages: [...nest12, '@nestjs/cli@12.0.8', 'typescript@6.0.3', ...swc, ...webpack],
    steps: [build('tsc'), build('swc'), build('webpack')],
  },
  {
    name: 'nest 12, ES modules, vitest 4, jest 30',
    type: 'module',
    packages: [
      ...nest12,
      '@nestjs/cli@12.0.8',
      'typescript@6.0.3',
      '@rspack/core@2.3.2',
      ...webpack,
      ...swc,
      ...jest30,
      'vitest@4.1.12',
    ],
    steps: [
      build('tsc'),
      build('swc'),
      build('rspack'),
      { ...jest('jest.config.js'), node: '24.9' },
      { ...jest('ts-jest.config.js'), node: '24.9' },
      vitest('vitest.config.ts'),
    ],
  },
  {
    name: 'nest 12, ES modules, vitest 3',
    type: 'module',
    packages: [...nest12, 'typescript@5.9.3', ...swc, 'vitest@3.2.7', 'unplugin-swc@2.0.0'],
    steps: [vitest('vitest-3.config.ts')],
  },
  {
    name: 'nest 11, ES modules, vitest 5',
    type: 'module',
    node: '22.0', // vitest 5 asks for it
    packages: [...nest11, '@types/node@22.20.5', 'typescript@6.0.3', 'vitest@5.1.1'],
    steps: [vitest('vitest.config.ts')],
  },
];

const folder = mkdtempSync(join(tmpdir(), 'dlx-broker-consumers-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Runs a command. @returns its output without colours */
function run(command, args, cwd, env = {}) {
  const options = {
    cwd,
    encoding: 'utf8',
    timeout: 300_000,
    env: { ...process.env, NO_COLOR: '1', CI: 'true', ...env },
  };
  const { stdout, stderr, status, error } = spawnSync(command, args, options);
  return { output: `${stdout}${stderr}${error ?? ''}`, succeeded: status === 0 };
}

let failures = 0;
function report(project, step, { output, succeeded }, expected = '') {
  const good = succeeded && output.includes(expected);
  console.log(`${good ? 'ok    ' : 'FAILED'} ${project}: ${step}`);
  if (good) return true;
  failures++;
  console.error(output.split('\n').slice(-40).join('\n'));
  return false;
}

/** jest reads ES modules by require(), as this package reads Nest 12, from Node 24.9 on. */
function isTooOld({ name, node = '0.0' }) {
  const [[major, minor], [leastMajor, leastMinor]] = [process.versions.node, node].map((text) =>
    text.split('.').map(Number),
  );
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return false;
  console.log(`skip   ${name}: it needs Node ${node}`);
  return true;
}

/** The source as applications of this kind write it, and the configurations. */
function prepare(project, { type, packages }) {
  const typescript6 = packages.some((name) => name.startsWith('typescript@6'));
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type }));
  cpSync(join(here, type === 'module' ? 'modules' : 'commonjs'), project, { recursive: true });
  cpSync(join(here, 'src'), join(project, 'src'), { recursive: true });
  cpSync(join(here, 'tsconfig.json'), join(project, 'tsconfig.json'));
  if (typescript6) {
    // It asks for this where it once guessed.
    const settings = readFileSync(join(project, 'tsconfig.json'), 'utf8');
    writeFileSync(join(project, 'tsconfig.json'), settings.replace('"outDir"', '"rootDir": "src", "outDir"'));
  }
  const exclude = ['node_modules', 'dist', 'src/**/*.spec.ts'];
  writeFileSync(join(project, 'tsconfig.build.json'), JSON.stringify({ extends: './tsconfig.json', exclude }));
  if (type === 'module') return;
  for (const file of readdirSync(join(project, 'src'))) {
    const path = join(project, 'src', file);
    writeFileSync(path, readFileSync(path, 'utf8').replace("'./orders.js'", "'./orders'"));
  }
}

function take(project, step) {
  const { command, builder, bundle, expected, name } = step;
  const path = join(folder, 'project');
  if (command !== undefined) {
    const env = project.type === 'module' ? { NODE_OPTIONS: '--experimental-vm-modules' } : {};
    const done = run(process.execPath, command, path, env);
    if (bundle === undefined || !done.succeeded) return report(project.name, name, done, expected);
    const alone = join(folder, 'alone');
    mkdirSync(alone, { recursive: true });
    renameSync(join(path, 'one', bundle), join(alone, bundle));
    return report(project.name, name, run(process.execPath, [bundle], alone), expected);
  }
  const compilerOptions = { builder, tsConfigPath: 'tsconfig.build.json', deleteOutDir: true };
  writeFileSync(join(path, 'nest-cli.json'), JSON.stringify({ sourceRoot: 'src', compilerOptions }));
  const built = run(process.execPath, ['node_modules/@nestjs/cli/bin/nest.js', 'build'], path);
  if (!built.succeeded) return report(project.name, name, built);
  return report(project.name, name, run(process.execPath, ['dist/main.js'], path), expected);
}

const pack = ['pack', '--ignore-scripts', '--silent', '--workspace', 'dlx-broker', '--pack-destination', folder];
if (!report('dlx-broker', 'pack', run('npm', pack, join(here, '../..')))) process.exit(1);
const tarball = join(folder, readdirSync(folder)[0]);

for (const project of projects.filter(({ name }) => name.includes(wanted))) {
  if (isTooOld(project)) continue;
  const path = join(folder, 'project');
  rmSync(path, { recursive: true, force: true });
  prepare(path, project);
  const types = project.node === undefined ? ['@types/node@20.19.43'] : [];
  const packages = [...always, ...types, ...project.packages];
  const install = ['install', '--no-audit', '--no-fund', '--save-exact', tarball, ...packages];
  if (!report(project.name, 'install', run('npm', install, path))) continue;
  for (const step of project.steps)
    if (!isTooOld({ ...step, name: `${project.name}: ${step.name}` })) take(project, step);
}
process.exitCode = failures > 0 ? 1 : 0;
