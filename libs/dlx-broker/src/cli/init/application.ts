import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, isAbsolute, join, normalize, relative, resolve, sep } from 'node:path';
import type typescript from 'typescript';
import { CommandError } from '../command-error.js';

export interface Manifest {
  readonly type?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly jest?: Jest;
}

/** The section of package.json. */
export interface Jest {
  readonly transform?: Readonly<Record<string, unknown>>;
  readonly transformIgnorePatterns?: readonly string[];
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
  readonly packageManager: 'npm' | 'pnpm' | 'yarn';
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
  const sourceRoot = sourceRootOf(folder);
  const file = normalize(module ?? `${sourceRoot}/app.module.ts`);
  const text = textOf(folder, file);
  if (text === undefined) {
    throw new CommandError(
      `there is no file ${file} in ${folder}: name the file of the root module with --module FILE.`,
    );
  }
  const main = `${sourceRoot}/main.ts`;
  const nest = Number.parseInt(versionOf(require, '@nestjs/core', folder), 10);
  const packageManager = managerOf(folder);
  return {
    folder,
    manifest,
    sourceRoot,
    module: file,
    main: textOf(folder, main) === undefined ? undefined : main,
    extension: manifest.type === 'module' || /from ['"]\.[^'"]*\.js['"]/.test(text) ? '.js' : '',
    nest,
    runner: (['vitest', 'jest'] as const).find((name) => all[name] !== undefined),
    packageManager,
    ts: compilerOf(require, addsForDevelopment(packageManager).join(' '), nest),
  };
}

function sourceRootOf(folder: string): string {
  const given = jsonOf<{ readonly sourceRoot?: unknown }>(folder, 'nest-cli.json')?.sourceRoot ?? 'src';
  if (typeof given !== 'string') throw new CommandError(`sourceRoot in ${join(folder, 'nest-cli.json')} is no text.`);
  return normalize(given).replace(/[\\/]+$/, '');
}

/** @returns the text of a file of the application; undefined if there is none, or a folder */
export function textOf(folder: string, file: string): string | undefined {
  const path = join(folder, file);
  return kindOf(path) === 'file' ? readFileSync(path, 'utf8') : undefined;
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

function managerOf(folder: string): Application['packageManager'] {
  if (existsSync(join(folder, 'pnpm-lock.yaml'))) return 'pnpm';
  return existsSync(join(folder, 'yarn.lock')) ? 'yarn' : 'npm';
}

/** The words of the command that adds packages to an application. */
export const adds = (manager: Application['packageManager']): readonly string[] => [
  manager,
  manager === 'npm' ? 'install' : 'add',
];

/** The same for packages of its development. */
export const addsForDevelopment = (manager: Application['packageManager']): readonly string[] => [
  ...adds(manager),
  manager === 'yarn' ? '--dev' : '--save-dev',
];

/**
 * The TypeScript that reads the sources of an application: the application's own, or the one of @nestjs/cli. TypeScript 7 has no API for it
 *.
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

/** The most links that lead to one file. */
const mostLinks = 40;

/**
 * Checks that a file which is written belongs to a folder. Links and `..` in a folder of another author could lead to any file of the user.
 * @throws {CommandError} if it is outside
 */
export function checkInside(folder: string, file: string): void {
  const place = placeOf(join(folder, file), mostLinks);
  const way = relative(realpathSync(folder), place);
  if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return;
  throw new CommandError(
    `${file} is ${place}, which is outside of ${folder}: correct --module FILE, sourceRoot of nest-cli.json, or the link. Nothing was changed.`,
  );
}

/** Checks that a file can be written where it is to be. @throws {CommandError} where a folder has its name, or a file that of its folder */
export function checkPlace(folder: string, file: string): void {
  if (kindOf(join(folder, file)) === 'folder')
    throw new CommandError(`${file} is a folder: rename it. Nothing was changed.`);
  for (let above = dirname(file); above !== dirname(above); above = dirname(above)) {
    if (kindOf(join(folder, above)) === 'file') {
      throw new CommandError(`${above} is a file, and should be a folder: rename it. Nothing was changed.`);
    }
  }
}

/** What a path leads to; undefined if it leads nowhere. */
export function kindOf(path: string): 'file' | 'folder' | 'other' | undefined {
  try {
    const found = statSync(path);
    if (found.isDirectory()) return 'folder';
    return found.isFile() ? 'file' : 'other';
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Where a file is, or would be made, when all links are followed. */
function placeOf(path: string, links: number): string {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return join(placeOf(dirname(path), links), basename(path));
  const folder = realpathSync(dirname(path));
  if (!entry.isSymbolicLink()) return join(folder, basename(path));
  if (links === 0) throw new CommandError(`${path} is a link that leads to no file. Nothing was changed.`);
  return placeOf(resolve(folder, readlinkSync(path)), links - 1);
}
