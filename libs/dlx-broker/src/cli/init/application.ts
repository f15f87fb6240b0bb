import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, normalize } from 'node:path';
import type typescript from 'typescript';
import { Refusal } from '../refusal.js';
import { compilerOf } from './compiler.js';
import { kindOf } from './inside.js';

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
 * @throws {Refusal} in a folder without a Nest application
 */
export function applicationIn(folder: string, module: string | undefined): Application {
  const manifest = jsonOf<Manifest>(folder, 'package.json');
  const all = { ...manifest?.dependencies, ...manifest?.devDependencies };
  if (manifest === undefined || all['@nestjs/core'] === undefined) {
    throw new Refusal(
      `there is no Nest application in ${folder}: its package.json does not depend on @nestjs/core. Make one with 'npx @nestjs/cli new', and run this command in its folder.`,
    );
  }
  const require = createRequire(join(folder, 'package.json'));
  const sourceRoot = sourceRootOf(folder);
  const file = normalize(module ?? `${sourceRoot}/app.module.ts`);
  const text = textOf(folder, file);
  if (text === undefined) {
    throw new Refusal(`there is no file ${file} in ${folder}: name the file of the root module with --module FILE.`);
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
  if (typeof given !== 'string') throw new Refusal(`sourceRoot in ${join(folder, 'nest-cli.json')} is no text.`);
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
    throw new Refusal(`${join(folder, file)} is no JSON: ${(error as Error).message}`);
  }
}

function versionOf(require: NodeJS.Require, name: string, folder: string): string {
  try {
    return (require(`${name}/package.json`) as { readonly version: string }).version;
  } catch {
    throw new Refusal(`${name} is not installed in ${folder}: run 'npm install' first.`);
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
