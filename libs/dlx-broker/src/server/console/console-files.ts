import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { product } from '../../engine/broker/index.js';
import { ConsoleFile } from './console-file.js';

/** The page of the console among its files. */
const index = 'index.html';

/** The files of the console by the paths of their URLs. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/**
 * Reads all files of the built console into memory. A request can only name one of these paths, so no request reads
 * another file. The page has the path `/`; every other file has its path below the folder.
 * @returns no files if the console was not built
 */
export function consoleFiles(directory = consoleDirectory()): ConsoleFiles {
  const files = new Map<string, ConsoleFile>();
  for (const name of directory === undefined ? [] : namesIn(directory)) {
    const path = name === index ? '/' : `/${name.split(sep).map(encodeURIComponent).join('/')}`;
    files.set(path, new ConsoleFile(name, readFileSync(join(directory as string, name))));
  }
  return files.has('/') ? files : new Map<string, ConsoleFile>();
}

/** The names of the files of a folder and of the folders in it; none if there is no such folder. */
function namesIn(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}

/**
 * The folder of the built console. The bundle has another depth than the sources, so the folder is found by the
 * `package.json` of this package.
 * @param from the path of a file of this package
 * @returns undefined outside the package, for example when an application is one file
 */
export function consoleDirectory(from = fileURLToPath(import.meta.url)): string | undefined {
  for (let [folder, last] = [dirname(from), from]; folder !== last; [folder, last] = [dirname(folder), folder]) {
    if (packageName(folder) === product.name) return join(folder, 'dist', 'console');
  }
  return undefined;
}

/** The name in the `package.json` of a folder; undefined if there is none. */
function packageName(folder: string): unknown {
  try {
    return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: unknown }).name;
  } catch {
    return undefined;
  }
}
