import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, normalize, relative, sep } from 'node:path';
import type typescript from 'typescript';
import { CommandError } from '../command-error.js';

export interface Manifest {
  readonly type?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** A package manager, and the words that add packages to an application and to its development, and run a script. */
interface Manager {
  readonly adds: readonly string[];
  readonly addsForDevelopment: readonly string[];
  readonly runs: string;
}

/** A Nest application in a folder, as far as `init` looks at it. */
export interface Application {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Relative to the folder. */
  readonly sourceRoot: string;
  /** The file with the root module, relative to the folder. */
  readonly module: string;
  /** The file that starts the application, relative to the folder; undefined without one in the usual place. */
  readonly main: string | undefined;
  /** What relative imports end with: `.js` in ES modules, nothing in CommonJS. */
  readonly extension: '.js' | '';
  /** The major version of Nest. */
  readonly nest: number;
  readonly runner: 'vitest' | 'jest' | undefined;
  readonly manager: Manager;
  /** Reads the sources. */
  readonly ts: typeof typescript;
}

/**
 * Looks at an application.
 * @param folder the folder with its package.json
 * @param module the file with the root module, relative to the folder, where it is not in the usual place
 * @throws {CommandError} in a folder without a Nest application
 */
export function applicationIn(folder: string, module: string | undefined): Application {
  const manifest = jsonOf<Manifest>(folder, 'package.json');
  const all = { ...manifest?.dependencies, ...manifest?.devDependencies };
  if (manifest === undefined || all['@nestjs/core'] === undefined) {
    throw new CommandError(
      `there is no Nest application in ${folder}: its package.json does not depend on @nestjs/core. Make one with 'npx @nestjs/cli new', and run this command in its folder.`,
    );
  }
  const require = createRequire(join(folder, 'package.json'));
  const sourceRoot = sourceRootOf(folder, module);
  const file = normalize(module ?? `${sourceRoot}/app.module.ts`);
  const text = textOf(folder, file);
  if (text === undefined) {
    throw new CommandError(
      `there is no file ${file} in ${folder}: name the file of the root module with --module FILE.`,
    );
  }
  const main = `${sourceRoot}/main.ts`;
  const nest = Number.parseInt(versionOf(require, '@nestjs/core', folder), 10);
  const manager = managerOf(folder);
  return {
    folder,
    manifest,
    sourceRoot,
    module: file,
    main: textOf(folder, main) === undefined ? undefined : main,
    extension: manifest.type === 'module' || /from ['"]\.[^'"]*\.js['"]/.test(text) ? '.js' : '',
    nest,
    runner: (['vitest', 'jest'] as const).find((name) => all[name] !== undefined),
    manager,
    ts: compilerOf(require, manager.addsForDevelopment.join(' '), nest),
  };
}

/** That of nest-cli.json, or of another application of the workspace, in which the module is: its folder `src`. */
function sourceRootOf(folder: string, module: string | undefined): string {
  const given = jsonOf<{ readonly sourceRoot?: unknown }>(folder, 'nest-cli.json')?.sourceRoot ?? 'src';
  if (typeof given !== 'string') throw new CommandError(`sourceRoot in ${join(folder, 'nest-cli.json')} is no text.`);
  const root = normalize(given).replace(/[\\/]+$/, '');
  const parts = dirname(normalize(module ?? root)).split(sep);
  if (module === undefined || !relative(root, normalize(module)).startsWith('..')) return root;
  return parts.slice(0, parts.lastIndexOf('src') + 1 || parts.length).join('/');
}

/** @returns the text of a file of the application; undefined if there is none, or a folder */
export function textOf(folder: string, file: string): string | undefined {
  const path = join(folder, file);
  return tried(() => statSync(path).isFile()) === true ? readFileSync(path, 'utf8') : undefined;
}

function jsonOf<Content>(folder: string, file: string): Content | undefined {
  const text = textOf(folder, file);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Content;
  } catch (error) {
    throw new CommandError(`${join(folder, file)} is no JSON: ${(error as Error).message}`);
  }
}

function versionOf(require: NodeJS.Require, name: string, folder: string): string {
  try {
    return (require(`${name}/package.json`) as { readonly version: string }).version;
  } catch {
    throw new CommandError(`${name} is not installed in ${folder}: run 'npm install' first.`);
  }
}

const managerNames = {
  'package-lock.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
} as const;

/** The manager whose lock file is in the folder, or in the next one above it, that of a workspace. */
function managerOf(folder: string): Manager {
  let name: string | undefined;
  for (let at = folder; name === undefined && at !== dirname(at); at = dirname(at)) {
    name = Object.entries(managerNames).find(([lock]) => existsSync(join(at, lock)))?.[1];
  }
  name ??= 'npm';
  const adds = [name, name === 'npm' ? 'install' : 'add'];
  // pnpm refuses to add packages to the root of a workspace without this.
  if (name === 'pnpm' && existsSync(join(folder, 'pnpm-workspace.yaml'))) adds.push('--workspace-root');
  const addsForDevelopment = [...adds, name === 'npm' || name === 'pnpm' ? '--save-dev' : '--dev'];
  // `bun test` would be the tests of Bun itself.
  return { adds, addsForDevelopment, runs: name === 'bun' ? 'bun run' : name };
}

/**
 * The TypeScript that reads the sources of an application: the application's own, or the one of @nestjs/cli. TypeScript 7 has no API
 * for it.
 * @param require looks for packages from the folder of the application
 * @param adds the command that adds a package to the development of the application
 * @param nest the major version of Nest
 * @throws {CommandError} where no TypeScript with this API is installed
 */
function compilerOf(require: NodeJS.Require, adds: string, nest: number): typeof typescript {
  const cli = tried(() => createRequire(require.resolve('@nestjs/cli/package.json')));
  for (const from of [require, cli]) {
    const ts = tried(() => from?.('typescript') as typeof typescript | undefined);
    if (typeof ts?.createSourceFile === 'function') return ts;
  }
  const own = tried(() => (require('typescript/package.json') as { readonly version: string }).version);
  throw new CommandError(
    own === undefined
      ? `TypeScript 5 or 6 is needed to read the sources, and not installed: run 'npm install' first.`
      : `TypeScript 5 or 6 is needed to read the sources. TypeScript ${own} of the application cannot do this, and ${
          cli === undefined
            ? `@nestjs/cli, which has one, is not installed: run '${adds} @nestjs/cli@${nest}' first.`
            : `@nestjs/cli has no other: run '${adds} typescript@6' first.`
        }`,
  );
}

function tried<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/**
 * Checks that a file which is written belongs to a folder. Links and `..` in a folder of another author could lead to any file of the user.
 * @throws {CommandError} if it is outside, or a link that leads to no file
 */
export function checkInside(folder: string, file: string): void {
  let existing = join(folder, file);
  while (tried(() => lstatSync(existing)) === undefined) existing = dirname(existing);
  const place = tried(() => realpathSync(existing));
  const way = place === undefined ? '..' : relative(realpathSync(folder), place);
  if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return;
  throw new CommandError(
    `${file} leads to ${place ?? 'a file that is not there'}, outside of ${folder}: correct --module FILE, sourceRoot of nest-cli.json, or the link. Nothing was changed.`,
  );
}
