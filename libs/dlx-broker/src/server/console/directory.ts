import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { product } from '../../engine/broker/index.js';

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
