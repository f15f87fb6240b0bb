// Judges the package as npm would publish it, after a build: `node test/packaging/check.mjs`. Needs no network.
//  - "are the types wrong", for each way to find a module
//  - require() of each entry, on Nest 11 and Nest 12
//  - the engine and `dlx-broker serve` without Nest: to load it takes four times as long as the rest of their start
//  - an application compiles in each kind of module, with Nest 11 and TypeScript 5, and with Nest 12 and TypeScript 6. `--all`: with each
//    of both. The declarations of the package are checked as well (`skipLibCheck: false`), without prom-client, and for Nest 12 with the
//    newest types of Node.
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  copyFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
const { exports } = JSON.parse(readFileSync(join(root, 'libs/dlx-broker/package.json'), 'utf8'));
const entries = Object.keys(exports)
  .filter((path) => exports[path].types !== undefined)
  .map((path) => path.replace('.', 'dlx-broker'));

const folder = mkdtempSync(join(tmpdir(), 'dlx-broker-package-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const npm = (...args) => execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
npm('pack', '--ignore-scripts', '--silent', '--workspace', 'dlx-broker', '--pack-destination', folder);
const [archive] = readdirSync(folder);
const tarball = join(folder, archive);

const nests = { 11: join(root, 'test/nest-11/node_modules'), 12: join(root, 'node_modules') };

/** A folder with the unpacked package, beside the packages of one Nest. */
function application(nest) {
  const packages = join(folder, `nest-${nest}`, 'node_modules');
  mkdirSync(packages, { recursive: true });
  for (const name of ['@nestjs', 'rxjs', 'reflect-metadata'])
    symlinkSync(join(nests[nest], name), join(packages, name));
  symlinkSync(join(nest === 12 ? here : root, 'node_modules/@types'), join(packages, '@types'));
  for (const name of ['@hono', 'hono', 'yaml', '@opentelemetry']) {
    symlinkSync(join(root, 'node_modules', name), join(packages, name));
  }
  execFileSync('tar', ['-xzf', tarball, '-C', packages]);
  execFileSync('mv', [join(packages, 'package'), join(packages, 'dlx-broker')]);
  return join(folder, `nest-${nest}`);
}

/** TypeScript's ways to find a module, and the kind of the application. `node16` refuses Nest 12, which has ES modules alone. */
const kinds = [
  {
    name: 'nodenext, ES modules, exact optional properties',
    type: 'module',
    options: { module: 'nodenext', moduleResolution: 'nodenext', exactOptionalPropertyTypes: true },
  },
  { name: 'nodenext, CommonJS', type: 'commonjs', options: { module: 'nodenext', moduleResolution: 'nodenext' } },
  { name: 'node16, CommonJS', type: 'commonjs', options: { module: 'node16', moduleResolution: 'node16' }, nest: 11 },
  { name: 'bundler', type: 'commonjs', options: { module: 'esnext', moduleResolution: 'bundler' } },
  { name: 'node10, CommonJS', type: 'commonjs', options: { module: 'commonjs', moduleResolution: 'node10' } },
];

function compile(ts, app, { type, options }) {
  writeFileSync(join(app, 'package.json'), JSON.stringify({ type }));
  copyFileSync(join(here, 'app.ts'), join(app, 'app.ts'));
  const imports = entries.map(
    (entry, index) => `import * as entry${index} from '${entry}';\nexport { entry${index} };\n`,
  );
  writeFileSync(join(app, 'entries.ts'), imports.join(''));
  const { options: converted, errors } = ts.convertCompilerOptionsFromJson(
    {
      ...options,
      ...(ts.version.startsWith('6.') && { ignoreDeprecations: '6.0' }),
      target: 'es2022',
      lib: ['es2023'],
      types: ['node'],
      strict: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      // A new application of Nest has it.
      declaration: true,
      noEmit: true,
      skipLibCheck: false,
    },
    app,
  );
  const program = ts.createProgram([join(app, 'app.ts'), join(app, 'entries.ts')], converted);
  // The declarations of other packages are theirs to check.
  const ours = program
    .getSourceFiles()
    .filter(({ fileName }) => !fileName.includes('/node_modules/') || fileName.includes('/node_modules/dlx-broker/'));
  const faults = [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...ours.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
    ...ours
      .filter(({ isDeclarationFile }) => !isDeclarationFile)
      .flatMap((file) => [...program.getDeclarationDiagnostics(file)]),
  ];
  return faults.map(({ file, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, '\n');
    return file === undefined ? text : `${file.fileName.slice(app.length + 1)}: ${text}`;
  });
}

let failures = 0;
function report(what, faults) {
  console.log(`${faults.length === 0 ? 'ok    ' : 'FAILED'} ${what}`);
  for (const fault of faults) console.error(`       ${fault}`);
  if (faults.length > 0) failures++;
}

/** What an action throws, as a list of faults. */
function faultsOf(action) {
  try {
    action();
    return [];
  } catch (error) {
    return [`${error.stdout ?? ''}${error.stderr ?? ''}` || String(error)];
  }
}

const attw = ['node_modules/@arethetypeswrong/cli/dist/index.js', tarball];
report(
  'the types of each entry are found',
  faultsOf(() => execFileSync(process.execPath, attw, { cwd: here, encoding: 'utf8', stdio: 'pipe' })),
);

/** A folder with the unpacked package, and without Nest. */
function withoutNest() {
  const packages = join(folder, 'without-nest', 'node_modules');
  mkdirSync(packages, { recursive: true });
  for (const name of ['commander', '@hono', 'hono', 'yaml']) {
    symlinkSync(join(root, 'node_modules', name), join(packages, name));
  }
  execFileSync('tar', ['-xzf', tarball, '-C', packages]);
  execFileSync('mv', [join(packages, 'package'), join(packages, 'dlx-broker')]);
  return join(folder, 'without-nest');
}

{
  const cwd = withoutNest();
  const options = { cwd, encoding: 'utf8', stdio: 'pipe', timeout: 60_000 };
  for (const entry of ['dlx-broker/engine', 'dlx-broker/server']) {
    const run = () =>
      execFileSync(process.execPath, ['--input-type=module', '-e', `await import('${entry}')`], options);
    report(`import('${entry}') without Nest`, faultsOf(run));
  }
  const addresses = ['--amqp', '127.0.0.1:0', '--http', '127.0.0.1:0', '--metrics', '127.0.0.1:0'];
  const serve = `
    const { spawn } = require('node:child_process');
    const server = spawn(process.execPath, ['node_modules/dlx-broker/bin/dlx-broker.js', 'serve', ...${JSON.stringify(addresses)}]);
    let said = '';
    const read = (bytes) => {
      said += bytes;
      if (said.includes('ready') && !server.killed) server.kill('SIGTERM');
    };
    server.stdout.on('data', read);
    server.stderr.on('data', read);
    server.once('exit', (code) => {
      if (code === 0 && said.includes('ready')) return;
      console.error(said);
      process.exitCode = 1;
    });`;
  report(
    'dlx-broker serve without Nest',
    faultsOf(() => execFileSync(process.execPath, ['-e', serve], options)),
  );
}

const compilers = {
  11: createRequire(join(here, 'x.js'))('typescript'),
  12: createRequire(join(root, 'x.js'))('typescript'),
};
for (const nest of [11, 12]) {
  const app = application(nest);
  writeFileSync(join(app, 'package.json'), JSON.stringify({ type: 'commonjs' }));
  for (const entry of entries) {
    const script = `
      const required = require('${entry}');
      if (Object.keys(required).length === 0) throw new Error('it exports nothing');
      import('${entry}').then((imported) => {
        for (const name of Object.keys(required)) {
          if (required[name] !== imported[name]) throw new Error('require() and import have copies of ' + name);
        }
      });`;
    writeFileSync(join(app, 'required.js'), script);
    const run = () => execFileSync(process.execPath, ['required.js'], { cwd: app, encoding: 'utf8', stdio: 'pipe' });
    report(`require('${entry}') with Nest ${nest}`, faultsOf(run));
  }
  for (const ts of process.argv.includes('--all') ? Object.values(compilers) : [compilers[nest]]) {
    for (const kind of kinds.filter((kind) => (kind.nest ?? nest) === nest))
      report(`Nest ${nest}, TypeScript ${ts.version}, ${kind.name}`, compile(ts, app, kind));
  }
}
process.exitCode = failures > 0 ? 1 : 0;
