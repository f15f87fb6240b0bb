import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { Command } from 'commander';
import { shownText } from '../../platform/index.js';
import { CommandError } from '../command-error.js';
import { acting, type CommandOutput, type Ended } from '../command.js';
import { type Application, applicationIn, checkInside, textOf } from './application.js';
import { addShutdownHooks, addToModule } from './edit-module.js';
import { handler, test } from './templates.js';

export interface InitFlags {
  readonly module?: string;
  readonly dryRun?: true;
  /** False with `--no-install`. */
  readonly install: boolean;
}

/** Adds the options of `init` to its command. @param version of this package */
export const addInit =
  (version: string) =>
  (command: Command, output: CommandOutput, ended: Ended): void => {
    command
      .option('--module <FILE>', 'the root module (default: app.module.ts in sourceRoot of nest-cli.json, or in src)')
      .option('--dry-run', 'show the changes without making them')
      .option('--no-install', 'install no packages');
    acting(output, ended)(command, (flags: InitFlags) => init(process.cwd(), flags, version, output.out));
  };

/** What becomes of a file. Without `text` the file stays as it is. */
interface Step {
  readonly file: string;
  readonly does: 'creates' | 'changes' | 'keeps';
  readonly about: string;
  readonly text?: string;
}

/**
 * Puts the module, a first handler and its test into a Nest application.
 * @param version of this package, which the application gets
 * @param out takes a line of output
 * @returns the exit code: that of the package manager, or 0
 * @throws {CommandError} in a folder without such an application, for a module that cannot be changed, and for a file outside of the folder;
 * nothing is changed then
 */
export function init(folder: string, flags: InitFlags, version: string, out: (line: string) => void): number {
  const application = applicationIn(folder, flags.module);
  const steps = [...handlerSteps(application), moduleStep(application), ...mainSteps(application)];
  for (const { file, text } of steps) if (text !== undefined) checkInside(folder, file);
  for (const { does, file, about } of steps) out(`${does}  ${shownText(file)}: ${about}`);
  const installs = installsOf(application, missingPackages(application, version));
  for (const install of installs) out(`${flags.install ? 'runs' : 'then run'}: ${install.join(' ')}`);
  if (flags.dryRun) {
    out('Nothing was changed.');
    return 0;
  }
  for (const { file, text } of steps) if (text !== undefined) write(join(folder, file), text);
  let code = 0;
  if (flags.install) for (const install of installs) code ||= run(folder, install);
  if (code === 0) for (const line of next(application)) out(line);
  return code;
}

function handlerSteps(application: Application): Step[] {
  const { folder, sourceRoot, runner } = application;
  const files = [
    ['orders.handler.ts', handler, 'a handler with five attempts'],
    ...(runner === undefined ? [] : [['orders.handler.spec.ts', test(application), 'its test, in virtual time']]),
  ] as const;
  return files.map(([name, text, about]) => {
    const file = `${sourceRoot}/orders/${name}`;
    return textOf(folder, file) === undefined
      ? { does: 'creates', file, about: about!, text: text! }
      : { does: 'keeps', file, about: 'it is there' };
  });
}

function moduleStep({ folder, module: file, sourceRoot, extension, ts }: Application): Step {
  const before = textOf(folder, file)!;
  if (/from ['"]dlx-broker['"]/.test(before)) return { does: 'keeps', file, about: 'it imports dlx-broker already' };
  const path = wayTo(`${sourceRoot}/orders/orders.handler${extension}`, file);
  const text = addToModule(ts, before, {
    imports: [
      ['DlxBrokerModule', 'dlx-broker'],
      ['OrdersHandler', path],
    ],
    properties: { imports: 'DlxBrokerModule.forRoot()', providers: 'OrdersHandler' },
  });
  if (text === undefined) {
    throw new CommandError(
      `${file} has no @Module({ imports: [...], providers: [...] }) that can be changed: add DlxBrokerModule.forRoot() of 'dlx-broker' to its imports yourself, or name another file with --module FILE. Nothing was changed.`,
    );
  }
  return { does: 'changes', file, about: 'DlxBrokerModule.forRoot() and the handler', text };
}

/**
 * The way to a file for the import statement of another one.
 * @throws {CommandError} for a name that would end the text of the statement
 */
function wayTo(file: string, from: string): string {
  const way = relative(dirname(from), file).replaceAll(sep, '/');
  if (/['"\\\p{Cc}\p{Zl}\p{Zp}]/u.test(way)) {
    throw new CommandError(
      `${shownText(way)} cannot be written into an import: rename its folder, or name another file with --module FILE. Nothing was changed.`,
    );
  }
  return way.startsWith('.') ? way : `./${way}`;
}

function mainSteps({ folder, main: file, ts }: Application): Step[] {
  if (file === undefined) return [];
  const before = textOf(folder, file)!;
  if (before.includes('enableShutdownHooks')) return [];
  const text = addShutdownHooks(ts, before);
  return text === undefined
    ? [
        {
          does: 'keeps',
          file,
          about: 'call enableShutdownHooks() of the application there, so that SIGTERM waits for handlers',
        },
      ]
    : [{ does: 'changes', file, about: 'enableShutdownHooks(), so that SIGTERM waits for handlers at work', text }];
}

/** Packages with the versions to install: those that the application runs with, and those of its development. */
interface Packages {
  readonly running: readonly string[];
  readonly developing: readonly string[];
}

function missingPackages({ manifest, nest, runner }: Application, version: string): Packages {
  const all = { ...manifest.dependencies, ...manifest.devDependencies };
  const missing = (wanted: readonly (readonly [string, string | number])[]): string[] =>
    wanted.filter(([name]) => all[name] === undefined).map(([name, range]) => `${name}@${range}`);
  return {
    running: missing([
      ['dlx-broker', version],
      ['@nestjs/microservices', nest],
    ]),
    developing: missing(runner === undefined ? [] : [['@nestjs/testing', nest]]),
  };
}

/** The commands of the package manager, word by word. */
function installsOf({ manager }: Application, { running, developing }: Packages): readonly string[][] {
  return [
    ...(running.length === 0 ? [] : [[...manager.adds, ...running]]),
    ...(developing.length === 0 ? [] : [[...manager.addsForDevelopment, ...developing]]),
  ];
}

function run(folder: string, [command, ...parts]: readonly string[]): number {
  // On Windows the package managers are scripts, which only a shell can run. The words have no characters of a shell.
  const shell = process.platform === 'win32';
  const { status, error } = spawnSync(command!, parts, { cwd: folder, stdio: 'inherit', shell });
  if (error !== undefined) {
    throw new CommandError(`'${command} ${parts.join(' ')}' could not be run: ${error.message}. Run it yourself.`);
  }
  return status ?? 1;
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${(error as Error).message}`);
  }
}

function next({ manager: { runs }, runner }: Application): string[] {
  const tests = runner === undefined ? [] : [`  ${runs} test         runs the handler five times within milliseconds`];
  const start = `  ${runs} start        runs it; emit('order.created', order) of DlxClient publishes to it`;
  return ['Next:', ...tests, start];
}
